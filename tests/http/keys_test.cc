// Single keys: any bytes as a key, every form of value, conditions.
#include "base/base64.h"
#include "http/http_fixture.h"
#include "net/http/target.h"

namespace kvarts::test {
namespace {

class KeysTest : public HttpTest {
 protected:
  std::string VersionOf(std::string_view target) { return JsonValue::Parse(Get(target).body)["version"].text(); }
  static std::string Quoted(const std::string& version) { return '"' + version + '"'; }
};

TEST_P(KeysTest, AnyBytesAreAKey) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (const std::string& key :
       {std::string(1, '\0'), std::string("\xff"), std::string("\xff\xff"), all, std::string("/"),
        std::string("a//b/../c/."), std::string("Grüße 🙂"), std::string("a?b#c&d=e+f %"), std::string("get"),
        std::string("\r\n"), std::string("%2F")}) {
    const std::string target = "/keys/" + http::PercentEncode(key);
    ASSERT_EQ(PutRaw(target, "is " + key).status, 200) << target;
    const HttpAnswer raw = Get(target, {{"Accept", "application/octet-stream"}});
    EXPECT_EQ(raw.body, "is " + key) << target;
    const JsonValue item = JsonValue::Parse(Get(target).body);
    if (item.Has("key")) {
      EXPECT_EQ(item["key"].text(), key);
    } else {
      EXPECT_EQ(FromBase64(item["key_base64"].text()).value_or("?"), key) << target;
    }
    EXPECT_EQ(Call("DELETE", target).status, 200) << target;
    EXPECT_EQ(Get(target).status, 404) << target;
  }
}

TEST_P(KeysTest, SlashesAndPlusInAPathMeanThemselves) {
  PutJson("/keys/keys/a/b+c", R"({"value": 1})");
  EXPECT_EQ(Get("/keys/keys%2fa%2Fb%2Bc").status, 200);
  EXPECT_EQ(Get("/keys/keys/a/b%20c").status, 404);
  EXPECT_EQ(Get("/keys/keys/a//b+c").status, 404);
}

TEST_P(KeysTest, WhatIsNoKeyIsRefused) {
  EXPECT_TRUE(IsProblem(Get("/keys/"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(PutRaw("/keys/", "x"), 400, "invalid_argument"));
  for (const char* target : {"/keys/%", "/keys/a%2", "/keys/%zz", "/keys/a%%", "/keys/%+1"}) {
    EXPECT_TRUE(IsProblem(Get(target), 400, "invalid_argument")) << target;
    EXPECT_TRUE(IsProblem(PutRaw(target, "x"), 400, "invalid_argument")) << target;
  }
  EXPECT_TRUE(IsProblem(Get("/keys/a?b=c"), 400, "invalid_argument"));
}

TEST_P(KeysTest, JsonIsKeptExactlyAsItWasWritten) {
  for (const char* value : {"null", "true", "0", "-0", "1e400", "123456789012345678901234567890.000100", "1.10",
                            R"({"b":1,"a":{"b":[[],{}]}})", R"("text")", R"("")", R"("\u0000\ud83d\ude42")",
                            R"([1,"a",null,{"x":-1.5E-7}])"}) {
    ASSERT_EQ(PutJson("/keys/keys/json", std::string(R"({"value":)") + value + "}").status, 200) << value;
    const std::string back = RawValueOf("/keys/keys/json");
    if (value[0] == '"') {
      EXPECT_EQ(JsonValue::Parse(back).text(), JsonValue::Parse(value).text()) << value;
    } else {
      EXPECT_EQ(back, value);
    }
  }
  // Space between the tokens is not part of a value.
  PutJson("/keys/keys/json", "{ \"value\" :\n { \"a\" : [ 1 , \"b  c\" ] } }");
  EXPECT_EQ(RawValueOf("/keys/keys/json"), R"({"a":[1,"b  c"]})");
}

TEST_P(KeysTest, NestedJsonIsKeptToItsBoundAndRefusedBeyond) {
  const auto nested = [](size_t depth) {
    return R"({"value":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  ASSERT_EQ(PutJson("/keys/keys/deep", nested(50)).status, 200);
  EXPECT_EQ(RawValueOf("/keys/keys/deep"), std::string(50, '[') + std::string(50, ']'));
  EXPECT_TRUE(IsProblem(PutJson("/keys/keys/deep", nested(500)), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(PutJson("/keys/keys/deep", nested(1'000'000)), 400, "invalid_argument"));
}

TEST_P(KeysTest, BodiesThatAreNotWhatTheyShouldBeAreRefusedAndSayWhere) {
  for (const char* body : {"",
                           "{",
                           "[]",
                           "1",
                           "{}",
                           R"({"value":1,"value":2})",
                           R"({"value":1,"other":2})",
                           R"({"value":})",
                           R"({"value":01})",
                           R"({"value":"\ud800"})",
                           R"({"value":1} x)",
                           R"({"value":1,"ttl":0})",
                           R"({"value":1,"ttl":-1})",
                           R"({"value":1,"ttl":"1"})",
                           R"({"value":1,"ttl":1e300})",
                           R"({"value_base64":"a"})",
                           R"({"value_base64":"&&&&"})",
                           "{\"value\":\"\xff\"}",
                           "{\"value\":\"\n\"}",
                           "\xef\xbb\xbf{\"value\":1}",
                           R"({"value":NaN})"}) {
    EXPECT_TRUE(IsProblem(PutJson("/keys/keys/bad", body), 400, "invalid_argument")) << body;
  }
  EXPECT_EQ(Get("/keys/keys/bad").status, 404);
  const HttpAnswer answer = PutJson("/keys/keys/bad", R"({"value":1,"ttl":-1})");
  EXPECT_EQ(JsonValue::Parse(answer.body)["field"].text(), "ttl");
}

TEST_P(KeysTest, OneValueCanBeGivenOnce) {
  EXPECT_TRUE(IsProblem(PutJson("/keys/keys/two", R"({"value":"a","value_base64":"Yg=="})"), 400, "invalid_argument"));
  EXPECT_TRUE(
      IsProblem(Post("/commit", R"({"mutations":[{"op":"put","key":"keys/two","key_base64":"YQ==","value":1}]})"), 400,
                "invalid_argument"));
}

TEST_P(KeysTest, BytesThatAreNoTextGoAsBase64) {
  ASSERT_EQ(PutJson("/keys/keys/base64", R"({"value_base64":"AP+A"})").status, 200);
  const JsonValue item = JsonValue::Parse(Get("/keys/keys/base64").body);
  EXPECT_FALSE(item.Has("value"));
  EXPECT_EQ(item["value_base64"].text(), "AP+A");
  EXPECT_EQ(Get("/keys/keys/base64", {{"Accept", "application/octet-stream"}}).body, std::string("\0\xff\x80", 3));
  // Text is text, however it came.
  ASSERT_EQ(PutJson("/keys/keys/base64", R"({"value_base64":"w6Q="})").status, 200);
  EXPECT_EQ(JsonValue::Parse(Get("/keys/keys/base64").body)["value"].text(), "ä");
  ASSERT_EQ(PutJson("/keys/keys/base64", R"({"value_base64":""})").status, 200);
  EXPECT_EQ(RawValueOf("/keys/keys/base64"), R"("")");
}

TEST_P(KeysTest, RawValuesKeepTheirBytesAndTheirType) {
  std::string bytes("\0\r\n\xff{}", 6);
  ASSERT_EQ(PutRaw("/keys/keys/raw", bytes, {{"Content-Type", "image/png; q=1"}}).status, 200);
  const HttpAnswer raw = Get("/keys/keys/raw", {{"Accept", "application/octet-stream"}});
  EXPECT_EQ(raw.body, bytes);
  EXPECT_EQ(raw.Header("Content-Type"), "image/png; q=1");
  EXPECT_EQ(JsonValue::Parse(Get("/keys/keys/raw").body)["type"].text(), "image/png; q=1");
  // Of the kinds that say nothing, nothing is kept.
  PutRaw("/keys/keys/raw", bytes, {{"Content-Type", "application/octet-stream"}});
  EXPECT_FALSE(JsonValue::Parse(Get("/keys/keys/raw").body).Has("type"));
  // A JSON value is its JSON when it is asked for as bytes.
  PutJson("/keys/keys/raw", R"({"value":{"a":1}})");
  const HttpAnswer json = Get("/keys/keys/raw", {{"Accept", "application/octet-stream"}});
  EXPECT_EQ(json.body, R"({"a":1})");
  EXPECT_EQ(json.Header("Content-Type"), "application/json");
  // An empty value is one.
  ASSERT_EQ(Call("PUT", "/keys/keys/raw", {{"Content-Length", "0"}}).status, 200);
  EXPECT_EQ(Get("/keys/keys/raw", {{"Accept", "application/octet-stream"}}).body, "");
}

TEST_P(KeysTest, AnEncodedBodyIsNotTakenForItsBytes) {
  const HttpAnswer answer = PutRaw("/keys/keys/encoded", "\x1f\x8b", {{"Content-Encoding", "gzip"}});
  EXPECT_TRUE(IsProblem(answer, 415, "unsupported_media_type"));
  EXPECT_EQ(Get("/keys/keys/encoded").status, 404);
}

TEST_P(KeysTest, AcceptChoosesTheFormAndRefusesOthers) {
  PutJson("/keys/keys/accept", R"({"value":"x"})");
  for (const char* accept : {"*/*", "application/json", "application/*", "text/html, */*;q=0.1",
                             "application/octet-stream;q=0.5, application/json"}) {
    EXPECT_EQ(Get("/keys/keys/accept", {{"Accept", accept}}).Header("Content-Type"), "application/json") << accept;
  }
  for (const char* accept : {"application/octet-stream", "application/json;q=0.1, application/octet-stream"}) {
    EXPECT_EQ(Get("/keys/keys/accept", {{"Accept", accept}}).body, "x") << accept;
  }
  EXPECT_EQ(Get("/keys/keys/accept", {{"Accept", "text/html"}}).status, 406);
}

TEST_P(KeysTest, AValueIsGivenAsWhatItWasStored) {
  PutRaw("/keys/keys/picture", "\x89PNG", {{"Content-Type", "image/png"}});
  PutRaw("/keys/keys/page", "<p>", {{"Content-Type", "Text/HTML; charset=utf-8"}});
  struct Case {
    const char* target;
    const char* accept;
    const char* type;  // null: none will do
  };
  const char* const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
  for (const Case& one :
       std::vector<Case>{{"/keys/keys/picture", "image/png", "image/png"},
                         {"/keys/keys/picture", "IMAGE/PNG", "image/png"},
                         {"/keys/keys/picture", "image/*", "image/png"},
                         {"/keys/keys/picture", "image/webp, image/*;q=0.5", "image/png"},
                         {"/keys/keys/picture", "application/octet-stream", "image/png"},
                         {"/keys/keys/picture", "image/png, application/json;q=0.9", "image/png"},
                         {"/keys/keys/picture", "image/png;q=0.5, */*;q=0.1", "image/png"},
                         {"/keys/keys/picture", "image/png, */*", "image/png"},
                         {"/keys/keys/picture", "*/*", "application/json"},
                         {"/keys/keys/picture", "image/png;q=0.5, application/json", "application/json"},
                         {"/keys/keys/picture", "image/png;q=0, */*", "application/json"},
                         {"/keys/keys/picture", browser, "application/json"},
                         {"/keys/keys/picture", "image/webp", nullptr},
                         {"/keys/keys/picture", "image/png;q=0", nullptr},
                         {"/keys/keys/picture", "text/*", nullptr},
                         {"/keys/keys/page", "text/html", "Text/HTML; charset=utf-8"},
                         {"/keys/keys/page", "text/html;charset=utf-8", "Text/HTML; charset=utf-8"},
                         {"/keys/keys/page", browser, "Text/HTML; charset=utf-8"},
                         {"/keys/keys/page", "image/*", nullptr}}) {
    const HttpAnswer answer = Get(one.target, {{"Accept", one.accept}});
    ASSERT_EQ(answer.status, one.type != nullptr ? 200 : 406) << one.target << " " << one.accept;
    if (one.type == nullptr) continue;
    EXPECT_EQ(answer.Header("Content-Type"), one.type) << one.target << " " << one.accept;
  }
  EXPECT_EQ(Get("/keys/keys/picture", {{"Accept", "image/png"}}).body, "\x89PNG");
  // A page that somebody stored must not act in the name of this server.
  EXPECT_EQ(Get("/keys/keys/page", {{"Accept", browser}}).Header("Content-Security-Policy"), "sandbox");
}

TEST_P(KeysTest, HeadIsGetWithoutTheBody) {
  PutJson("/keys/keys/head", R"({"value":")" + std::string(20'000, 'x') + R"("})");
  for (const char* target :
       {"/keys/keys/head", "/keys/keys/none", "/keys?prefix=keys/head", "/livez", "/openapi.json", "/nowhere"}) {
    for (const HttpHeaders& headers : {HttpHeaders{}, HttpHeaders{{"Accept-Encoding", "gzip"}}}) {
      const HttpAnswer get = Get(target, headers);
      const HttpAnswer head = Call("HEAD", target, headers);
      EXPECT_EQ(head.status, get.status) << target;
      EXPECT_EQ(head.body, "");
      const auto undated = [](HttpHeaders of) {
        std::erase_if(of, [](const auto& header) { return header.first == "Date"; });
        return of;
      };
      EXPECT_EQ(undated(head.headers), undated(get.headers)) << target;
    }
  }
}

TEST_P(KeysTest, IfNoneMatchCreatesOnce) {
  Call("DELETE", "/keys/keys/once");
  EXPECT_EQ(PutJson("/keys/keys/once", R"({"value":1})", {{"If-None-Match", "*"}}).status, 201);
  const HttpAnswer again = PutJson("/keys/keys/once", R"({"value":2})", {{"If-None-Match", "*"}});
  ASSERT_TRUE(IsProblem(again, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(again.body)["version"].text(), VersionOf("/keys/keys/once"));
  EXPECT_EQ(JsonValue::Parse(again.body)["key"].text(), "keys/once");
  EXPECT_EQ(RawValueOf("/keys/keys/once"), "1");
  EXPECT_TRUE(
      IsProblem(PutJson("/keys/keys/once", R"({"value":2})", {{"If-None-Match", "\"1\""}}), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(PutJson("/keys/keys/once", R"({"value":2})", {{"If-None-Match", "*"}, {"If-Match", "*"}}), 400,
                        "invalid_argument"));
}

TEST_P(KeysTest, IfMatchSwapsOnlyWhatTheClientKnows) {
  const std::string first = JsonValue::Parse(PutJson("/keys/keys/swap", R"({"value":1})").body)["version"].text();
  const HttpAnswer swapped = PutJson("/keys/keys/swap", R"({"value":2})", {{"If-Match", Quoted(first)}});
  EXPECT_EQ(swapped.status, 200);
  const std::string second = VersionOf("/keys/keys/swap");
  // With the current version, so that the client can try again.
  for (const std::string& match :
       {Quoted(first), "W/" + Quoted(second), std::string("\"x\""), Quoted(first) + ", \"1\"", std::string("\"\"")}) {
    const HttpAnswer refused = PutJson("/keys/keys/swap", R"({"value":3})", {{"If-Match", match}});
    ASSERT_TRUE(IsProblem(refused, 412, "precondition_failed")) << match;
    EXPECT_EQ(JsonValue::Parse(refused.body)["version"].text(), second) << match;
    EXPECT_EQ(JsonValue::Parse(refused.body)["key"].text(), "keys/swap") << match;
  }
  EXPECT_EQ(RawValueOf("/keys/keys/swap"), "2");
  EXPECT_EQ(PutJson("/keys/keys/swap", R"({"value":3})", {{"If-Match", Quoted(first) + " , " + Quoted(second)}}).status,
            200);
  EXPECT_EQ(PutJson("/keys/keys/swap", R"({"value":4})", {{"If-Match", "*"}}).status, 200);
  for (const char* malformed : {"1", "\"1", "*, \"1\"", "\"1\" \"2\""}) {
    EXPECT_TRUE(
        IsProblem(PutJson("/keys/keys/swap", R"({"value":5})", {{"If-Match", malformed}}), 400, "invalid_argument"))
        << malformed;
  }
  EXPECT_EQ(RawValueOf("/keys/keys/swap"), "4");
  const HttpAnswer absent = PutJson("/keys/keys/never", R"({"value":1})", {{"If-Match", "*"}});
  ASSERT_TRUE(IsProblem(absent, 412, "precondition_failed"));
  EXPECT_NE(absent.body.find(R"("version":null)"), std::string::npos) << absent.body;
}

TEST_P(KeysTest, IfMatchDeletesAndChangesOnlyWhatTheClientKnows) {
  const std::string first = JsonValue::Parse(PutJson("/keys/keys/gone", R"({"value":1})").body)["version"].text();
  const std::string second = JsonValue::Parse(PutJson("/keys/keys/gone", R"({"value":2})").body)["version"].text();
  const HttpHeaders old = {{"If-Match", Quoted(first)}};
  EXPECT_TRUE(IsProblem(Call("DELETE", "/keys/keys/gone", old), 412, "precondition_failed"));
  EXPECT_TRUE(IsProblem(Patch("/keys/keys/gone", R"({"increment":1})", old), 412, "precondition_failed"));
  EXPECT_TRUE(IsProblem(Patch("/keys/keys/gone", R"({"ttl":10})", old), 412, "precondition_failed"));
  const HttpAnswer changed = Patch("/keys/keys/gone", R"({"increment":1})", {{"If-Match", Quoted(second)}});
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(Call("DELETE", "/keys/keys/gone", {{"If-Match", changed.Header("ETag")}}).status, 200);
  EXPECT_EQ(Call("DELETE", "/keys/keys/gone", {{"If-Match", "*"}}).status, 412);
}

TEST_P(KeysTest, WhatTheClientHasIsNotSentAgain) {
  const std::string version = JsonValue::Parse(PutJson("/keys/keys/have", R"({"value":1})").body)["version"].text();
  for (const std::string& tags :
       {Quoted(version), "W/" + Quoted(version), std::string("*"), "\"1\", " + Quoted(version)}) {
    const HttpAnswer answer = Get("/keys/keys/have", {{"If-None-Match", tags}});
    EXPECT_EQ(answer.status, 304) << tags;
    EXPECT_EQ(answer.Header("ETag"), Quoted(version));
    EXPECT_FALSE(answer.Has("Content-Type"));
    EXPECT_EQ(Call("HEAD", "/keys/keys/have", {{"If-None-Match", tags}}).status, 304);
  }
  EXPECT_EQ(Get("/keys/keys/have", {{"If-None-Match", "\"1\""}}).status, 200);
  PutJson("/keys/keys/have", R"({"value":2})");
  EXPECT_EQ(Get("/keys/keys/have", {{"If-None-Match", Quoted(version)}}).status, 200);
  EXPECT_TRUE(IsProblem(Get("/keys/keys/have", {{"If-None-Match", "x"}}), 400, "invalid_argument"));
  EXPECT_EQ(Get("/keys/keys/nothing", {{"If-None-Match", "*"}}).status, 404);
}

TEST_P(KeysTest, IfMatchOfAReadIsJudgedFirst) {
  const std::string version = JsonValue::Parse(PutJson("/keys/keys/read-if", R"({"value":1})").body)["version"].text();
  const std::string packed = Quoted(version + "-gzip");
  for (const char* method : {"GET", "HEAD"}) {
    for (const std::string& match : {Quoted(version), std::string("*"), "\"1\", " + packed}) {
      EXPECT_EQ(Call(method, "/keys/keys/read-if", {{"If-Match", match}}).status, 200) << match;
      // What the client has is not sent again; the first condition has nothing to say about that.
      const HttpHeaders both = {{"If-Match", match}, {"If-None-Match", Quoted(version)}};
      EXPECT_EQ(Call(method, "/keys/keys/read-if", both).status, 304) << match;
    }
    for (const std::string& match : {std::string("\"1\""), "W/" + Quoted(version), std::string("\"x\"")}) {
      EXPECT_EQ(Call(method, "/keys/keys/read-if", {{"If-Match", match}}).status, 412) << match;
      const HttpHeaders both = {{"If-Match", match}, {"If-None-Match", Quoted(version)}};
      EXPECT_EQ(Call(method, "/keys/keys/read-if", both).status, 412) << match;
    }
    EXPECT_EQ(Call(method, "/keys/keys/read-if", {{"If-Match", "x"}}).status, 400);
    EXPECT_EQ(Call(method, "/keys/keys/nothing", {{"If-Match", "*"}}).status, 404);
  }
  const HttpAnswer refused = Get("/keys/keys/read-if", {{"If-Match", "\"1\""}});
  ASSERT_TRUE(IsProblem(refused, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(refused.body)["version"].text(), version);
}

TEST_P(KeysTest, TheTagIsTheVersionInEveryForm) {
  const std::string large(20'000, 'x');
  const std::string version =
      JsonValue::Parse(PutRaw("/keys/keys/forms", large, {{"Content-Type", "text/x-form"}}).body)["version"].text();
  const HttpHeaders raw = {{"Accept", "text/x-form"}};
  const HttpHeaders gzip = {{"Accept-Encoding", "gzip"}};
  const HttpHeaders raw_gzip = {{"Accept", "application/octet-stream"}, {"Accept-Encoding", "gzip"}};
  struct Case {
    HttpHeaders headers;
    std::string tag;
  };
  const std::vector<Case> cases = {{{}, Quoted(version)},
                                   {raw, Quoted(version)},
                                   {gzip, Quoted(version + "-gzip")},
                                   {raw_gzip, Quoted(version + "-gzip")}};
  for (const Case& one : cases) {
    const HttpAnswer answer = Get("/keys/keys/forms", one.headers);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.Header("ETag"), one.tag);
    EXPECT_EQ(answer.Header("Vary"), "Accept, Accept-Encoding");
    EXPECT_EQ(answer.Header("Content-Encoding"), one.tag.ends_with("gzip\"") ? "gzip" : "");
    // Who has it is told so, and by the name that it has there.
    HttpHeaders again = one.headers;
    again.emplace_back("If-None-Match", one.tag);
    const HttpAnswer unchanged = Get("/keys/keys/forms", again);
    EXPECT_EQ(unchanged.status, 304) << one.tag;
    EXPECT_EQ(unchanged.Header("ETag"), one.tag);
    EXPECT_EQ(unchanged.Header("Vary"), "Accept, Accept-Encoding");
    EXPECT_FALSE(unchanged.Has("Content-Encoding"));
  }
  // Nobody is told to have what it cannot unpack; plain it may keep.
  const auto status = [&](HttpHeaders headers, const std::string& tag) {
    headers.emplace_back("If-None-Match", tag);
    return Get("/keys/keys/forms", headers).status;
  };
  EXPECT_EQ(status({}, Quoted(version + "-gzip")), 200);
  EXPECT_EQ(status(gzip, Quoted(version)), 304);
  EXPECT_EQ(status(raw, Quoted(version + "-gzip")), 200);
  // A write is about the version, whatever form the client saw of it.
  std::string tag = Quoted(version + "-gzip");
  for (const HttpHeaders& headers : {raw, gzip, raw_gzip, HttpHeaders{}}) {
    EXPECT_EQ(PutRaw("/keys/keys/forms", large, {{"Content-Type", "text/x-form"}, {"If-Match", tag}}).status, 200)
        << tag;
    EXPECT_EQ(PutRaw("/keys/keys/forms", large, {{"If-Match", tag}}).status, 412) << tag;
    tag = Get("/keys/keys/forms", headers).Header("ETag");
  }
  const HttpAnswer written = PutRaw("/keys/keys/forms", large, gzip);
  EXPECT_EQ(written.Header("Content-Encoding"), "gzip");
  EXPECT_EQ(written.Header("ETag"), Quoted(VersionOf("/keys/keys/forms")));
  EXPECT_FALSE(written.Has("Vary"));
}

TEST_P(KeysTest, AMinimalAnswerHasTheVersionAlone) {
  const HttpAnswer put = PutJson("/keys/keys/minimal", R"({"value":1})", {{"Prefer", "return=minimal"}});
  EXPECT_EQ(put.status, 204);
  EXPECT_EQ(put.Header("ETag"), Quoted(VersionOf("/keys/keys/minimal")));
  EXPECT_EQ(Patch("/keys/keys/minimal", R"({"increment":1})", {{"Prefer", "return=minimal"}}).status, 204);
  EXPECT_EQ(Call("DELETE", "/keys/keys/minimal", {{"Prefer", "return=minimal"}}).status, 204);
}

TEST_P(KeysTest, ManyKeysAreReadInTheirOrderAtOneInstant) {
  PutJson("/keys/keys/many/1", R"({"value":1})");
  PutRaw("/keys/keys/many/%FF", "bytes");
  const JsonValue items = JsonValue::Parse(
      Post("/keys/get",
           R"({"keys":["keys/many/1","keys/many/2",{"key_base64":"a2V5cy9tYW55L/8="},"keys/many/1",{"key":"x"}]})")
          .body)["items"];
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items.at(0)["value"].raw(), "1");
  EXPECT_TRUE(items.at(1).is_null());
  EXPECT_EQ(items.at(2)["value"].text(), "bytes");
  EXPECT_EQ(items.at(2)["key_base64"].text(), "a2V5cy9tYW55L/8=");
  EXPECT_EQ(items.at(3)["value"].raw(), "1");
  EXPECT_EQ(JsonValue::Parse(Post("/keys/get", R"({"keys":[]})").body)["items"].size(), 0U);
  for (const char* body :
       {"", "[]", "{\"keys\":1}", "{\"keys\":[1]}", "{\"keys\":[\"\"]}", "{\"key\":[]}", "{\"keys\":[{}]}"}) {
    EXPECT_TRUE(IsProblem(Post("/keys/get", body), 400, "invalid_argument")) << body;
  }
}

TEST_P(KeysTest, DurabilityIsSaidPerRequest) {
  for (const char* durability : {"none", "interval", "sync"}) {
    EXPECT_EQ(PutJson("/keys/keys/durable", R"({"value":1})", {{"Kvarts-Durability", durability}}).status, 200)
        << durability;
    EXPECT_EQ(RawValueOf("/keys/keys/durable"), "1");
  }
  for (const char* durability : {"", "Sync", "fsync", "sync,none"}) {
    EXPECT_TRUE(IsProblem(PutJson("/keys/keys/durable", R"({"value":2})", {{"Kvarts-Durability", durability}}), 400,
                          "invalid_argument"))
        << durability;
  }
  // What one machine alone cannot promise is not promised; the servers of this one have replicas.
  if (GetParam().name == "postgres") return;
  EXPECT_EQ(PutJson("/keys/keys/durable", R"({"value":2})", {{"Kvarts-Durability", "quorum"}}).status / 100, 4);
  EXPECT_EQ(RawValueOf("/keys/keys/durable"), "1");
}

TEST_P(KeysTest, TheCostIsToldToThoseWhoAsk) {
  EXPECT_FALSE(PutJson("/keys/keys/cost", R"({"value":"abc"})").Has("Kvarts-Cost"));
  const std::string put =
      PutJson("/keys/keys/cost", R"({"value":"abc"})", {{"Kvarts-Cost", "1"}}).Header("Kvarts-Cost");
  EXPECT_NE(put.find("written=1"), std::string::npos) << put;
  EXPECT_NE(put.find("sync_us="), std::string::npos) << put;
  const std::string get = Get("/keys/keys/cost", {{"kvarts-cost", "1"}}).Header("Kvarts-Cost");
  EXPECT_NE(get.find("keys=1"), std::string::npos) << get;
  for (const char* target : {"/keys?prefix=keys/cost", "/keys?prefix=keys/cost&count=exact"}) {
    const std::string scan = Get(target, {{"Kvarts-Cost", "1"}}).Header("Kvarts-Cost");
    EXPECT_NE(scan.find("keys=1"), std::string::npos) << target << scan;
  }
}

TEST_P(KeysTest, ProblemsAndExportsTellTheirCostToo) {
  const HttpHeaders ask = {{"Kvarts-Cost", "1"}};
  PutJson("/keys/keys/spent", R"({"value":"text"})");
  const auto has = [](const HttpAnswer& answer, int status, std::string_view part) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_NE((answer.Header("Kvarts-Cost") + ",").find(part), std::string::npos) << answer.Header("Kvarts-Cost");
  };
  has(Get("/keys/keys/spent-not", ask), 404, "keys=1,");
  has(Get("/keys/keys/spent", {{"Kvarts-Cost", "1"}, {"If-Match", "\"1\""}}), 412, "keys=1,");
  const HttpAnswer failed = Patch("/keys/keys/spent", R"({"increment":1})", ask);
  has(failed, 400, "keys=1,");
  has(failed, 400, "written=0,");
  has(failed, 400, "runs=1,");
  has(PutJson("/keys/keys/spent", R"({"value":1})", {{"Kvarts-Cost", "1"}, {"If-Match", "\"1\", \"2\""}}), 412,
      "keys=1,");
  // Of a stream it is known at its end.
  const HttpAnswer lines = Get("/keys?prefix=keys/spent", {{"Kvarts-Cost", "1"}, {"Accept", "application/x-ndjson"}});
  EXPECT_FALSE(lines.Has("Kvarts-Cost"));
  const size_t last = lines.body.rfind('\n', lines.body.size() - 2);
  const JsonValue end = JsonValue::Parse(lines.body.substr(last + 1));
  EXPECT_EQ(end["cost"]["keys"].raw(), "1") << lines.body;
  EXPECT_EQ(end["cost"]["skipped"].raw(), "0") << lines.body;
  EXPECT_EQ(Get("/keys?prefix=keys/spent", {{"Accept", "application/x-ndjson"}}).body.find("cost"), std::string::npos);
}

KVARTS_ON_EVERY_ENGINE(KeysTest);

}  // namespace
}  // namespace kvarts::test
