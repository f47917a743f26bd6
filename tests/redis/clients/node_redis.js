// Everyday use through node-redis, in the version of the protocol that KVARTS_RESP names.
"use strict";

const { createClient } = require("redis");
const { host, port, show, fails, run, sorted } = require("./common.js");

const RESP = Number(process.env.KVARTS_RESP ?? 2);
const open = async (options = {}) => {
  const client = createClient({ RESP, socket: { host, port, reconnectStrategy: () => 20 }, ...options });
  client.on("error", () => {});
  return client.connect();
};
let r;

async function strings() {
  r = await open();
  show("flushall", await r.flushAll());
  show("set", await r.set("greeting", "hello", { expiration: { type: "EX", value: 100 } }));
  show("get", await r.get("greeting"));
  show("missing", await r.get("missing"));
  show("incr", [await r.incr("n"), await r.incrBy("n", 10)]);
  show("float", await r.incrByFloat("f", 1.5));
  show("mset", await r.mSet({ a: "1", b: "2" }));
  show("mget", await r.mGet(["a", "missing", "b"]));
  await fails("type", () => r.incr("greeting"));
  await fails("unknown", () => r.sendCommand(["NOSUCHCOMMAND"]));
  await fails("arity", () => r.sendCommand(["GET"]));
}

async function pipelines() {
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => r.set(`p:${i}`, String(i))));
  show("pipelined", answers.length);
  show("multi", await r.multi().set("t", "1").incr("t").get("t").exec());
  show("pipeline", await r.multi().get("t").get("missing").execAsPipeline());
  const other = await open();
  await r.watch("t");
  await other.set("t", "elsewhere");
  await fails("watched", () => r.multi().set("t", "mine").exec());
  show("unchanged", await r.get("t"));
  await other.close();
}

async function keys() {
  const found = new Set();
  for await (const names of r.scanIterator({ MATCH: "p:*", COUNT: 50 })) names.forEach((name) => found.add(name));
  show("scan", found.size);
  show("type", await r.type("greeting"));
  show("del", await r.del(["p:1", "p:2", "missing"]));
}

async function hashes() {
  show("hset", await r.hSet("h", { name: "Ada", born: "1815" }));
  show("hgetall", await r.hGetAll("h"));
  show("hmget", await r.hmGet("h", ["name", "missing"]));
  show("hincrby", await r.hIncrBy("h", "born", 1));
  show("hexists", await r.hExists("h", "name"));
  await fails("wrong", () => r.hGet("greeting", "x"));
}

async function sets() {
  show("sadd", await r.sAdd("s", ["a", "b", "c"]));
  show("smembers", sorted(await r.sMembers("s")));
  show("sismember", [await r.sIsMember("s", "a"), await r.sIsMember("s", "z")]);
  show("smismember", await r.smIsMember("s", ["a", "z"]));
}

async function lists() {
  show("rpush", await r.rPush("l", ["a", "b", "c"]));
  show("lrange", await r.lRange("l", 0, -1));
  show("lpop", [await r.lPop("l"), await r.lPop("missing")]);
  show("lpos", await r.lPos("l", "c"));
}

async function sortedSets() {
  show("zadd", await r.zAdd("z", [{ value: "a", score: 1 }, { value: "b", score: 2.5 }]));
  show("zrange", await r.zRangeWithScores("z", 0, -1));
  show("zscore", [await r.zScore("z", "b"), await r.zScore("z", "missing")]);
  show("zincrby", await r.zIncrBy("z", 0.5, "a"));
  show("zpopmax", await r.zPopMax("z"));
}

async function blocking() {
  const other = await open();
  setTimeout(() => other.rPush("queue", "job"), 200);
  show("blpop", await r.blPop(["empty", "queue"], 10));
  await other.close();
}

async function pubsub() {
  const listener = await open();
  const messages = [];
  let told;
  const two = new Promise((resolve) => (told = resolve));
  const note = (...message) => messages.push(message) === 2 && told();
  await listener.subscribe("news", note);
  await listener.pSubscribe("w*", note);
  show("publish", [await r.publish("news", "one"), await r.publish("weather", "two")]);
  await two;
  show("messages", messages);
  show("channels", [await r.pubSubChannels(), await r.pubSubNumSub(["news", "none"]), await r.pubSubNumPat()]);
  let heard;
  const shard = new Promise((resolve) => (heard = resolve));
  await listener.sSubscribe("shard", (message) => heard(message));
  show("shard", [await r.sPublish("shard", "x"), await shard, await r.pubSubShardNumSub(["shard"])]);
  await listener.unsubscribe("news");
  await listener.pUnsubscribe();
  await listener.sUnsubscribe("shard");
  show("nobody", [await r.publish("news", "x"), await listener.ping()]);
  await listener.close();
  const named = await open({ name: "named" });
  const listed = (await r.clientList()).find((client) => client.name === "named");
  show("client", [Object.keys(listed).sort(), listed.flags, listed.db, listed.user, listed.resp]);
  show("info", (await named.clientInfo()).name);
  show("pause", [await r.clientPause(20), await r.get("none"), await r.clientPause(100000, "WRITE"), await r.clientUnpause()]);
  named.destroy();
}

// Keys that are kept by the client, and forgotten when another one changes them.
async function tracking() {
  if (RESP !== 3) return;
  const cached = await open({ clientSideCache: { ttl: 0, maxEntries: 100 } });
  await r.set("tracked", "1");
  show("cached", [await cached.get("tracked"), await cached.get("tracked")]);
  await r.set("tracked", "2");
  let now = "1";
  for (let i = 0; i < 500 && now === "1"; ++i) {
    now = await cached.get("tracked");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  show("forgotten", now);
  await cached.close();
}

async function acl() {
  show("setuser", await r.aclSetUser("reader", ["on", ">secret", "~a*", "+@read", "+hello", "+client"]));
  const reader = await open({ username: "reader", password: "secret" });
  await fails("read", () => reader.get("another"));
  await fails("write", () => reader.set("another", "1"));
  await reader.close();
  show("deluser", await r.aclDelUser("reader"));
}

async function reconnects() {
  const one = await open({ database: 1, name: "tester" });
  show("database", [await one.set("k", "1"), await one.clientGetName(), await r.exists("k")]);
  one.destroy();
  await one.connect();
  show("again", [await one.get("k"), await one.clientGetName(), await one.flushDb()]);
  await one.close();
  await r.close();
}

run([strings, pipelines, keys], { hashes, sets, lists, "sorted-sets": sortedSets, blocking, pubsub, tracking, acl },
    reconnects);
