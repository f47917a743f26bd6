// Everyday use through ioredis.
"use strict";

const Redis = require("ioredis");
const { host, port, show, fails, run, sorted } = require("./common.js");

const open = (options = {}) => new Redis({ host, port, retryStrategy: () => 20, ...options });
const r = open();

async function strings() {
  show("flushall", await r.flushall());
  show("set", await r.set("greeting", "hello", "EX", 100));
  show("get", await r.get("greeting"));
  show("nx", await r.set("greeting", "x", "NX"));
  show("missing", await r.get("missing"));
  show("incr", [await r.incr("n"), await r.incrby("n", 10), await r.decr("n")]);
  show("mset", await r.mset({ a: 1, b: 2 }));
  show("mget", await r.mget("a", "missing", "b"));
  await r.setBuffer(Buffer.from([0, 255]), Buffer.from("\r\n\0"));
  show("bytes", await r.getBuffer(Buffer.from([0, 255])));
  await fails("type", () => r.incr("greeting"));
  await fails("unknown", () => r.call("NOSUCHCOMMAND", "x"));
  await fails("arity", () => r.call("GET"));
}

async function pipelines() {
  const pipe = r.pipeline();
  for (let i = 0; i < 1000; ++i) pipe.set(`p:${i}`, i).get(`p:${i}`);
  const answers = await pipe.exec();
  show("pipeline", answers.reduce((sum, [, value]) => sum + (value === "OK" ? 0 : Number(value)), 0));
  show("mixed", await r.pipeline().incr("greeting").get("greeting").exec());
  show("multi", await r.multi().set("t", 1).incr("t").get("t").exec());
  await fails("spoilt", () => r.multi().set("t", 1).call("GET").exec());
  const other = open();
  await r.watch("t");
  await other.set("t", "elsewhere");
  show("watched", await r.multi().set("t", "mine").exec());
  show("unchanged", await r.get("t"));
  await other.quit();
  // Without waiting for each.
  show("parallel", (await Promise.all(Array.from({ length: 100 }, () => r.incr("parallel")))).length);
}

async function keys() {
  const found = new Set();
  for await (const names of r.scanStream({ match: "p:*", count: 50 })) names.forEach((name) => found.add(name));
  show("scan", found.size);
  show("expire", [await r.expire("p:1", 50), await r.persist("p:1"), await r.ttl("p:1")]);
  show("del", await r.del("p:1", "p:2", "missing"));
}

async function hashes() {
  show("hset", await r.hset("h", { name: "Ada", born: 1815 }));
  show("hgetall", await r.hgetall("h"));
  show("hmget", await r.hmget("h", "name", "missing"));
  await r.hset("many", Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i])));
  let fields = 0;
  for await (const some of r.hscanStream("many", { count: 100 })) fields += some.length / 2;
  show("hscan", fields);
  await fails("wrong", () => r.hget("greeting", "x"));
}

async function sets() {
  show("sadd", await r.sadd("s", "a", "b", "c"));
  show("smembers", sorted(await r.smembers("s")));
  await r.sadd("s2", "b", "c", "d");
  show("sinter", sorted(await r.sinter("s", "s2")));
  show("sunion", sorted(await r.sunion("s", "s2")));
  show("srem", [await r.srem("s", "a", "z"), await r.scard("s")]);
}

async function lists() {
  show("rpush", await r.rpush("l", "a", "b", "c"));
  show("lrange", await r.lrange("l", 0, -1));
  show("lmove", await r.lmove("l", "l2", "LEFT", "RIGHT"));
  show("lpop", [await r.lpop("l"), await r.lpop("missing")]);
  await fails("wrong", () => r.lpush("greeting", 1));
}

async function sortedSets() {
  show("zadd", await r.zadd("z", 1, "a", 2.5, "b", 3, "c"));
  show("zrange", await r.zrange("z", 0, -1, "WITHSCORES"));
  show("zrank", await r.zrank("z", "b"));
  show("zrangebyscore", await r.zrangebyscore("z", "(1", "+inf"));
  show("zpopmin", await r.zpopmin("z"));
}

async function blocking() {
  const other = open();
  setTimeout(() => other.rpush("queue", "job"), 200);
  show("blpop", await r.blpop("empty", "queue", 10));
  await other.quit();
}

async function pubsub() {
  const listener = open();
  const messages = [];
  const two = new Promise((resolve) => {
    const note = (...message) => messages.push(message) === 2 && resolve();
    listener.on("message", note);
    listener.on("pmessage", note);
  });
  show("subscribe", [await listener.subscribe("news"), await listener.psubscribe("w*")]);
  show("publish", [await r.publish("news", "one"), await r.publish("weather", "two"), await r.publish("none", "x")]);
  await two;
  show("messages", messages);
  show("channels", [await r.pubsub("CHANNELS"), await r.pubsub("NUMSUB", "news", "none"), await r.pubsub("NUMPAT")]);
  await fails("listens", () => listener.get("greeting"));
  // One that was ended comes back, and listens to what it has listened to.
  const back = new Promise((resolve) => listener.once("ready", resolve));
  show("kill", await r.client("KILL", "TYPE", "pubsub"));
  await back;
  while ((await r.pubsub("NUMSUB", "news"))[1] !== 1) await new Promise((resolve) => setTimeout(resolve, 10));
  const heard = new Promise((resolve) => listener.once("message", (...message) => resolve(message)));
  show("publish", await r.publish("news", "again"));
  show("heard", await heard);
  show("shard", [await listener.ssubscribe("shard"), await r.spublish("shard", "x"), await r.spublish("none", "x")]);
  show("pipeline", await r.pipeline().publish("none", "1").set("p", 1).publish("news", "2").exec());
  show("transaction", await r.multi().set("p", 2).publish("news", "3").get("p").exec());
  show("unsubscribe", [await listener.unsubscribe("news"), await listener.punsubscribe("w*")]);
  show("shard", await listener.sunsubscribe("shard"));
  show("answers", await listener.get("p"));
  await listener.quit();
}

// Keys that one connection has read, and of which another is told.
async function tracking() {
  const listener = open();
  const number = await listener.client("ID");
  const told = [];
  let heard = () => {};
  listener.on("message", (channel, keys) => {
    told.push([channel, keys]);
    heard();
  });
  const next = () => new Promise((resolve) => (heard = resolve));
  await listener.subscribe("__redis__:invalidate");
  const keeps = open();
  show("on", await keeps.client("TRACKING", "ON", "REDIRECT", number));
  show("get", [await r.set("tracked", 1), await keeps.get("tracked")]);
  const first = next();
  await r.set("tracked", 2);
  await first;
  show("told", told);
  await fails("prefix", () => keeps.client("TRACKING", "ON", "PREFIX", "a"));
  show("off", [await keeps.client("TRACKING", "OFF"), await keeps.client("GETREDIR")]);
  await keeps.quit();
  await listener.quit();
}

async function acl() {
  show("setuser", await r.acl("SETUSER", "reader", "on", ">secret", "~a*", "+@read"));
  const reader = open({ username: "reader", password: "secret", enableReadyCheck: false });
  await fails("read", () => reader.get("another"));
  await fails("write", () => reader.set("another", 1));
  reader.disconnect();
  show("deluser", await r.acl("DELUSER", "reader"));
}

async function reconnects() {
  const one = open({ db: 1, connectionName: "tester" });
  show("database", [await one.set("k", 1), await one.client("GETNAME"), await r.exists("k")]);
  const ready = new Promise((resolve) => one.once("ready", resolve));
  one.disconnect(true);
  await ready;
  show("again", [await one.get("k"), await one.client("GETNAME"), await one.flushdb()]);
  await one.quit();
  show("quit", await r.quit());
}

run([strings, pipelines, keys], { hashes, sets, lists, "sorted-sets": sortedSets, blocking, pubsub, tracking, acl },
    reconnects);
