"""Everyday use through redis-py: HOST PORT FAMILY..., and what it prints is the same for every server."""
import sys
import threading
import time

import redis

host, port, families = sys.argv[1], int(sys.argv[2]), set(sys.argv[3:])
r = redis.Redis(host=host, port=port, decode_responses=True)


def show(name, value):
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, dict):
        value = sorted(value.items())
    print(name, repr(value), flush=True)


def fails(name, call):
    try:
        show(name, call())
    except redis.RedisError as error:
        print(name, type(error).__name__, error, flush=True)


def strings():
    show("ping", r.ping())
    show("set", r.set("greeting", "hello", ex=100))
    show("get", r.get("greeting"))
    show("ttl", 0 < r.ttl("greeting") <= 100)
    show("nx", r.set("greeting", "x", nx=True))
    show("missing", r.get("missing"))
    show("incr", [r.incr("n"), r.incr("n", 10), r.decr("n")])
    show("float", r.incrbyfloat("f", 1.5))
    show("mset", r.mset({"a": 1, "b": 2}))
    show("mget", r.mget("a", "missing", "b"))
    show("bytes", redis.Redis(host=host, port=port).set(b"\x00\xff", b"\r\n\x00"))
    show("bytes", redis.Redis(host=host, port=port).get(b"\x00\xff"))
    show("large", r.set("large", "x" * 1_000_000) and len(r.get("large")))
    show("delete", r.delete("a", "b", "missing"))
    fails("type", lambda: r.incr("greeting"))
    fails("syntax", lambda: r.execute_command("SET", "a", "b", "NONSENSE"))
    fails("unknown", lambda: r.execute_command("NOSUCHCOMMAND"))
    fails("arity", lambda: r.execute_command("GET"))


def keys():
    for i in range(500):
        r.set(f"scan:{i}", i)
    show("scan", len(set(r.scan_iter("scan:*", count=37))))
    show("type", r.type("scan:1"))
    show("rename", r.rename("scan:1", "scan:renamed"))
    show("exists", r.exists("scan:1", "scan:renamed"))
    show("expire", [r.expire("scan:2", 50), r.persist("scan:2"), r.ttl("scan:2")])


def pipelines():
    pipe = r.pipeline(transaction=False)
    for i in range(1000):
        pipe.set(f"p:{i}", i).get(f"p:{i}")
    show("pipeline", sum(int(value) for value in pipe.execute()[1::2]))
    with r.pipeline() as pipe:
        show("transaction", pipe.set("t", 1).incr("t").get("t").execute())
    with r.pipeline() as pipe:
        fails("spoilt", lambda: pipe.set("t", 1).execute_command("GET").execute())
    with r.pipeline() as pipe:
        pipe.watch("t")
        r.set("t", "elsewhere")
        pipe.multi()
        pipe.set("t", "mine")
        fails("watched", pipe.execute)
    show("unchanged", r.get("t"))
    counted = r.transaction(lambda pipe: pipe.multi() or pipe.incr("counted"), "counted", value_from_callable=False)
    show("transaction", counted)


def hashes():
    show("hset", r.hset("h", mapping={"name": "Ada", "born": 1815}))
    show("hgetall", r.hgetall("h"))
    show("hmget", r.hmget("h", "name", "missing"))
    show("hincrby", r.hincrby("h", "born", 2))
    r.hset("many", mapping={f"field:{i}": i for i in range(1000)})
    show("hlen", r.hlen("many"))
    show("hscan", len(dict(r.hscan_iter("many", count=100))))
    show("hdel", r.hdel("h", "name", "born"))
    show("gone", r.exists("h"))
    fails("wrong", lambda: r.hget("greeting", "x"))


def sets():
    show("sadd", r.sadd("s", *range(1000)))
    show("scard", r.scard("s"))
    show("sscan", len(set(r.sscan_iter("s", count=100))))
    r.sadd("s2", 1, 2, "x")
    show("sinter", r.sinter("s", "s2"))
    show("sdiff", r.sdiff("s2", "s"))
    show("smismember", r.smismember("s2", ["1", "y"]))
    show("spop", len(r.spop("s", 10)))
    show("left", r.scard("s"))
    fails("wrong", lambda: r.sadd("greeting", 1))


def lists():
    show("rpush", r.rpush("l", *"abc"))
    show("lpush", r.lpush("l", "z"))
    show("lrange", r.lrange("l", 0, -1))
    show("lpop", r.lpop("l", 2))
    show("lmove", r.lmove("l", "l2", "RIGHT", "LEFT"))
    r.rpush("long", *range(5000))
    show("middle", r.lrange("long", 2500, 2503))
    show("linsert", r.linsert("long", "BEFORE", "2500", "new"))
    show("ltrim", [r.ltrim("long", 2499, 2502), r.lrange("long", 0, -1)])
    fails("wrong", lambda: r.lpush("greeting", 1))


def sorted_sets():
    show("zadd", r.zadd("z", {"a": 1, "b": 2.5, "c": 3}))
    show("zrange", r.zrange("z", 0, -1, withscores=True))
    show("zrevrange", r.zrevrange("z", 0, 1))
    show("zrank", [r.zrank("z", "b"), r.zrank("z", "missing")])
    show("zincrby", r.zincrby("z", 10, "a"))
    show("zrangebyscore", r.zrangebyscore("z", "(2.5", "+inf", withscores=True))
    r.zadd("big", {f"m{i}": i for i in range(5000)})
    show("zscan", len(dict(r.zscan_iter("big", count=100))))
    show("zpopmin", r.zpopmin("big", 2))
    show("zremrangebyrank", r.zremrangebyrank("big", 0, 999))
    show("zcount", r.zcount("big", 0, 2000))
    fails("wrong", lambda: r.zadd("greeting", {"a": 1}))


def blocking():
    other = redis.Redis(host=host, port=port, decode_responses=True)
    timer = threading.Timer(0.2, lambda: other.rpush("queue", "job"))
    timer.start()
    show("blpop", r.blpop(["empty", "queue"], timeout=10))
    timer.join()
    show("nothing", r.blpop("empty", timeout=0.05))


def pubsub():
    listener = r.pubsub(ignore_subscribe_messages=False)
    listener.subscribe("news")
    listener.psubscribe("w*")
    other = redis.Redis(host=host, port=port)
    show("subscribed", [listener.get_message(timeout=10) for _ in range(2)])
    show("channels", [r.pubsub_channels(), r.pubsub_channels("x*"), r.pubsub_numsub("news", "none"), r.pubsub_numpat()])
    show("publish", [other.publish("news", "one"), other.publish("weather", "two"), other.publish("none", "x")])
    show("messages", [listener.get_message(timeout=10) for _ in range(2)])
    listener.unsubscribe()
    listener.punsubscribe()
    show("unsubscribed", [listener.get_message(timeout=10) for _ in range(2)])
    listener.close()
    ended_and_back()
    clients()


# A connection that was ended is made anew, and listens to what it has listened to.
def ended_and_back():
    listener = r.pubsub(ignore_subscribe_messages=True)
    listener.subscribe("news")
    listener.psubscribe("w*")
    while dict(r.pubsub_numsub("news"))["news"] + r.pubsub_numpat() < 2:
        time.sleep(0.01)
    show("kill", r.client_kill_filter(_type="pubsub"))
    while dict(r.pubsub_numsub("news"))["news"] + r.pubsub_numpat() < 2:
        try:
            listener.get_message(timeout=0.01)
        except redis.ConnectionError:
            pass
    show("publish", [r.publish("news", "again"), r.publish("weather", "again")])
    heard = []
    while len(heard) < 2:
        message = listener.get_message(timeout=10)
        if message is not None:
            heard.append((message["type"], message["data"]))
    show("heard", heard)
    listener.close()


def clients():
    other = redis.Redis(host=host, port=port, client_name="other", decode_responses=True)
    show("ping", other.ping())
    told = {client["name"]: client for client in r.client_list()}["other"]
    show("fields", sorted(told))
    show("told", [told[field] for field in ("flags", "db", "cmd", "user", "multi", "redir", "resp")])
    show("list", [len(r.client_list(_type="pubsub")), len(r.client_list(client_id=[told["id"]]))])
    show("info", other.client_info()["cmd"])
    show("kill", r.client_kill_filter(_id=told["id"]))
    show("back", [other.ping(), other.client_getname()])
    show("pause", [r.client_pause(20), r.get("none"), r.client_pause(100_000, all=False), r.client_unpause()])
    show("unblock", [r.client_unblock(999_999), r.client_unblock(999_999, error=True)])
    show("redirected", r.client_getredir())
    fails("kill", lambda: r.client_kill("127.0.0.1:1"))
    fails("pause", lambda: r.execute_command("CLIENT PAUSE", "1", "SOME"))


# Keys that one connection has read, and of which another is told: version 2 has no other way.
def tracking():
    told = redis.Redis(host=host, port=port, single_connection_client=True, decode_responses=True)
    number = told.client_id()
    listener = told.connection
    listener.send_command("SUBSCRIBE", "__redis__:invalidate")
    show("subscribe", listener.read_response())
    keeps = redis.Redis(host=host, port=port, single_connection_client=True, decode_responses=True)
    show("on", keeps.client_tracking_on(clientid=number))
    show("getredir", keeps.client_getredir() == number)
    show("get", [r.set("tracked", 1), keeps.get("tracked"), r.set("tracked", 2)])
    show("told", listener.read_response())
    show("off", keeps.client_tracking_off())
    fails("prefix", lambda: keeps.client_tracking_on(prefix=["a"]))
    fails("nobody", lambda: keeps.client_tracking_on(clientid=987654321))
    show("bcast", keeps.client_tracking_on(clientid=number, prefix=["tr"], bcast=True, noloop=True))
    show("set", [keeps.set("tracked", 3), r.set("other", 1), r.set("tracked", 4)])
    show("told", listener.read_response())
    show("info", keeps.execute_command("CLIENT", "TRACKINGINFO")[:2])
    show("flushed", [r.flushdb(), listener.read_response(), r.set("greeting", "hello")])
    keeps.close()
    told.close()


def acl():
    r.acl_setuser("reader", enabled=True, passwords=["+secret"], keys=["a*"], commands=["+@read"])
    reader = redis.Redis(host=host, port=port, username="reader", password="secret", decode_responses=True)
    show("whoami", reader.acl_whoami() if "acl-whoami" in families else "reader")
    fails("read", lambda: reader.get("another"))
    fails("write", lambda: reader.set("another", 1))
    fails("key", lambda: reader.get("b"))
    fails("password", lambda: redis.Redis(host=host, port=port, username="reader", password="x").ping())
    show("deluser", r.acl_deluser("reader"))


def reconnects():
    r.connection_pool.disconnect()
    show("again", r.get("greeting"))
    one = redis.Redis(host=host, port=port, db=1, client_name="tester", decode_responses=True)
    show("database", [one.set("k", 1), one.client_getname(), one.dbsize(), r.exists("k")])
    one.connection_pool.disconnect()
    show("database", [one.get("k"), one.client_getname()])
    show("flushdb", [one.flushdb(), one.dbsize(), r.dbsize() > 0])


r.flushall()
strings()
keys()
pipelines()
for family in (hashes, sets, lists, sorted_sets, blocking, pubsub, tracking, acl):
    if family.__name__.replace("_", "-") in families:
        print("--", family.__name__)
        family()
reconnects()
