#include "net/http/request_head.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kvarts::http {
namespace {

using Text = std::string;

// A request line and Host, with these headers, and the empty line.
Text With(const Text& headers, const Text& line = "GET /a HTTP/1.1") {
  return line + "\r\nHost: h\r\n" + headers + "\r\n";
}

HeadResult ParseWhole(const Text& input, RequestHead* head, const HeadLimits& limits = {}) {
  HeadParser parser(limits);
  return parser.Parse(input, head);
}

// What a head says, in a form that can be compared; the views are looked at too.
std::vector<Text> Told(const RequestHead& head, const Text& input) {
  std::vector<Text> told = {std::to_string(static_cast<int>(head.method())),
                            std::to_string(head.minor_version()),
                            std::to_string(head.keep_alive()),
                            std::to_string(head.content_length().value_or(-1)),
                            std::to_string(head.chunked()),
                            std::to_string(head.expect_continue())};
  const auto add = [&told, &input](std::string_view view) {
    if (!view.empty()) {
      EXPECT_GE(view.data(), input.data());
      EXPECT_LE(view.data() + view.size(), input.data() + input.size());
    }
    told.emplace_back(view);
  };
  add(head.method_text());
  add(head.path());
  add(head.query());
  for (int i = 0; i < static_cast<int>(Field::kCount); ++i) {
    told.push_back(std::to_string(head.Has(Field(i))));
    add(head.Get(Field(i)));
  }
  for (size_t i = 0; i < head.kvarts_headers(); ++i) {
    add(head.kvarts_name(i));
    add(head.kvarts_value(i));
  }
  return told;
}

// Feeds the pieces that end at `cuts`, each time from a buffer elsewhere, and expects the answer of the whole.
void ExpectSameInPieces(const Text& input, const std::vector<size_t>& cuts, const HeadLimits& limits = {}) {
  RequestHead whole_head;
  const HeadResult whole = ParseWhole(input, &whole_head, limits);
  HeadParser parser(limits);
  RequestHead head;
  HeadResult result;
  std::unique_ptr<Text> buffer;
  for (size_t i = 0; i <= cuts.size() && result.incomplete(); ++i) {
    auto next = std::make_unique<Text>(input.substr(0, i < cuts.size() ? cuts[i] : input.size()));
    buffer = std::move(next);
    result = parser.Parse(*buffer, &head);
  }
  ASSERT_EQ(result.state, whole.state) << input;
  ASSERT_EQ(result.size, whole.size) << input;
  ASSERT_EQ(result.error.status, whole.error.status) << input;
  ASSERT_STREQ(result.error.text, whole.error.text) << input;
  if (whole.complete()) {
    ASSERT_EQ(Told(head, *buffer), Told(whole_head, input)) << input;
  }
}

void ExpectSameByteByByte(const Text& input, const HeadLimits& limits = {}) {
  std::vector<size_t> cuts;
  for (size_t i = 0; i < input.size(); ++i) cuts.push_back(i);
  ExpectSameInPieces(input, cuts, limits);
}

// The status with which it is refused; 0 when it is complete, -1 when more is awaited.
int StatusOf(const Text& input, const HeadLimits& limits = {}) {
  RequestHead head;
  const HeadResult result = ParseWhole(input, &head, limits);
  if (input.size() < 4000) ExpectSameByteByByte(input, limits);
  if (result.complete()) {
    EXPECT_LE(result.size, input.size());
    return 0;
  }
  if (result.refused()) {
    EXPECT_GE(result.error.status, 400);
    EXPECT_STRNE(result.error.text, "");
  }
  return result.refused() ? result.error.status : -1;
}

RequestHead Parsed(const Text& input) {
  RequestHead head;
  const HeadResult result = ParseWhole(input, &head);
  EXPECT_TRUE(result.complete()) << input << ": " << result.error.text;
  EXPECT_EQ(result.size, input.size());
  ExpectSameByteByByte(input);
  return head;
}

TEST(RequestHeadTest, TellsAllPartsOfARequest) {
  const Text input =
      "PUT /keys/a%2Fb?x=1&y HTTP/1.1\r\nHost: example.org:7700\r\nACCEPT: text/html \r\naccept-encoding:gzip\r\n"
      "Authorization:\tBearer x\t \r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nIf-Match: \"1\"\r\n"
      "If-None-Match: *\r\nLast-Event-ID: 7\r\nOrigin: http://o\r\nPrefer: wait=5\r\ntraceparent: 00-1-2-01\r\n"
      "Content-Length: 12\r\nExpect: 100-Continue\r\nkvarts-durability: sync\r\nKvarts-Cost:\r\nX-Other: "
      "\xc3\xa5\r\n\r\n";
  const RequestHead head = Parsed(input);
  EXPECT_EQ(head.method(), Method::kPut);
  EXPECT_EQ(head.method_text(), "PUT");
  EXPECT_EQ(head.path(), "/keys/a%2Fb");
  EXPECT_EQ(head.query(), "x=1&y");
  EXPECT_EQ(head.minor_version(), 1);
  EXPECT_TRUE(head.keep_alive());
  EXPECT_EQ(head.content_length(), 12u);
  EXPECT_FALSE(head.chunked());
  EXPECT_TRUE(head.has_body());
  EXPECT_TRUE(head.expect_continue());
  EXPECT_EQ(head.host(), "example.org:7700");
  EXPECT_EQ(head.accept(), "text/html");
  EXPECT_EQ(head.accept_encoding(), "gzip");
  EXPECT_EQ(head.authorization(), "Bearer x");
  EXPECT_EQ(head.content_type(), "application/json");
  EXPECT_EQ(head.content_encoding(), "gzip");
  EXPECT_EQ(head.if_match(), "\"1\"");
  EXPECT_EQ(head.if_none_match(), "*");
  EXPECT_EQ(head.last_event_id(), "7");
  EXPECT_EQ(head.origin(), "http://o");
  EXPECT_EQ(head.prefer(), "wait=5");
  EXPECT_EQ(head.traceparent(), "00-1-2-01");
  EXPECT_EQ(head.Header("Kvarts-Durability"), "sync");
  EXPECT_EQ(head.Header("KVARTS-COST"), "");
  EXPECT_EQ(head.Header("Kvarts-Other"), std::nullopt);
  EXPECT_EQ(head.Header("X-Other"), std::nullopt);
}

TEST(RequestHeadTest, WhatIsNotThereIsAbsent) {
  const Text input = With("");
  const RequestHead head = Parsed(input);
  EXPECT_FALSE(head.Has(Field::kAccept));
  EXPECT_EQ(head.accept(), "");
  EXPECT_EQ(head.query(), "");
  EXPECT_EQ(head.content_length(), std::nullopt);
  EXPECT_FALSE(head.has_body());
  EXPECT_FALSE(head.expect_continue());
  EXPECT_EQ(head.kvarts_headers(), 0u);
}

TEST(RequestHeadTest, NothingIsLeftOfTheRequestBefore) {
  const Text both =
      With("Accept: a/b\r\nContent-Length: 0\r\nKvarts-A: 1\r\nConnection: close\r\n", "PUT /a?q HTTP/1.1") +
      With("", "GET /b HTTP/1.1");
  HeadParser parser;
  RequestHead head;
  const HeadResult first = parser.Parse(both, &head);
  ASSERT_TRUE(first.complete());
  EXPECT_FALSE(head.keep_alive());
  const Text rest = both.substr(first.size);
  ASSERT_TRUE(parser.Parse(rest, &head).complete());
  EXPECT_EQ(head.path(), "/b");
  EXPECT_EQ(head.query(), "");
  EXPECT_TRUE(head.keep_alive());
  EXPECT_FALSE(head.Has(Field::kAccept));
  EXPECT_EQ(head.content_length(), std::nullopt);
  EXPECT_EQ(head.kvarts_headers(), 0u);
}

TEST(RequestHeadTest, SurvivesAMoveOfItsBuffer) {
  Text input = With("Accept: a/b\r\nKvarts-A: 1\r\n", "GET /path?q HTTP/1.1");
  RequestHead head = Parsed(input);
  const Text moved = input;
  head.Rebase(moved.data());
  input.assign(input.size(), 'x');
  EXPECT_EQ(head.path(), "/path");
  EXPECT_EQ(head.query(), "q");
  EXPECT_EQ(head.accept(), "a/b");
  EXPECT_EQ(head.Header("Kvarts-A"), "1");
}

TEST(RequestHeadTest, Methods) {
  const std::pair<const char*, Method> known[] = {
      {"GET", Method::kGet},       {"HEAD", Method::kHead},   {"PUT", Method::kPut},         {"POST", Method::kPost},
      {"DELETE", Method::kDelete}, {"PATCH", Method::kPatch}, {"OPTIONS", Method::kOptions}, {"TRACE", Method::kOther},
      {"get", Method::kOther},     {"GETS", Method::kOther},  {"X-~!", Method::kOther},
  };
  for (const auto& [text, method] : known) {
    const Text input = With("", Text(text) + " / HTTP/1.1");
    const RequestHead head = Parsed(input);
    EXPECT_EQ(head.method(), method) << text;
    EXPECT_EQ(head.method_text(), text);
  }
  EXPECT_EQ(StatusOf(With("", "CONNECT example.org:80 HTTP/1.1")), 501);
  EXPECT_EQ(StatusOf(With("", "CONNECT / HTTP/1.1")), 501);
  EXPECT_EQ(StatusOf(With("", Text(32, 'M') + " / HTTP/1.1")), 0);
  EXPECT_EQ(StatusOf(With("", Text(33, 'M') + " / HTTP/1.1")), 501);
  for (const char* line : {"G@T / HTTP/1.1", "G\xc3\xa5T / HTTP/1.1", "(GET) / HTTP/1.1", "\"GET\" / HTTP/1.1"}) {
    EXPECT_EQ(StatusOf(With("", line)), 400) << line;
  }
}

TEST(RequestHeadTest, TheRequestLineHasThreePartsAndTwoSpaces) {
  for (const char* line : {" GET / HTTP/1.1",
                           "GET  / HTTP/1.1",
                           "GET /  HTTP/1.1",
                           "GET / HTTP/1.1 ",
                           "GET\t/ HTTP/1.1",
                           "GET /\tHTTP/1.1",
                           "GET / a HTTP/1.1",
                           "GET /",
                           "GET",
                           "GET ",
                           "GET  HTTP/1.1",
                           "GET / ",
                           "/ HTTP/1.1",
                           "GET /HTTP/1.1",
                           "\t",
                           "GET / http/1.1",
                           "GET / HTTP/1",
                           "GET / HTTP/1.",
                           "GET / HTTP/1.10",
                           "GET / HTTP/11.1",
                           "GET / HTTP/1,1",
                           "GET / HTTP/a.1",
                           "GET / HTTP/1.a",
                           "GET / HTTP 1.1",
                           "GET / HTTPS/1.1",
                           "GET / FTP/1.1",
                           "GET / HTTP/ 1.1"}) {
    EXPECT_EQ(StatusOf(With("", line)), 400) << line;
  }
}

TEST(RequestHeadTest, OtherVersionsAreRefused) {
  for (const char* version : {"0.9", "1.2", "1.9", "2.0", "3.0", "9.9", "0.0"}) {
    EXPECT_EQ(StatusOf(With("", Text("GET / HTTP/") + version)), 505) << version;
  }
  EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(RequestHeadTest, FormsOfTheTarget) {
  struct Case {
    const char* line;
    const char* path;
    const char* query;
    const char* host;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"GET / HTTP/1.1", "/", "", "h"},
           {"GET /a/b?c?d HTTP/1.1", "/a/b", "c?d", "h"},
           {"GET /? HTTP/1.1", "/", "", "h"},
           {"GET //x HTTP/1.1", "//x", "", "h"},
           {"GET /keys/%00%ff HTTP/1.1", "/keys/%00%ff", "", "h"},
           {"GET /{a|b}\"<>\\^` HTTP/1.1", "/{a|b}\"<>\\^`", "", "h"},
           {"GET /\xc3\xa5 HTTP/1.1", "/\xc3\xa5", "", "h"},
           {"OPTIONS * HTTP/1.1", "*", "", "h"},
           {"GET http://o.org/a?b HTTP/1.1", "/a", "b", "o.org"},
           {"GET HTTPS://o.org:80 HTTP/1.1", "/", "", "o.org:80"},
           {"GET http://[::1]:80?q HTTP/1.1", "/", "q", "[::1]:80"},
           {"GET http://o/?q HTTP/1.1", "/", "q", "o"},
           {"GET http://o/a?http://p/b HTTP/1.1", "/a", "http://p/b", "o"},
       }) {
    const Text input = With("", c.line);
    const RequestHead head = Parsed(input);
    EXPECT_EQ(head.path(), c.path) << c.line;
    EXPECT_EQ(head.query(), c.query) << c.line;
    EXPECT_EQ(head.host(), c.host) << c.line;
  }
  for (const char* line :
       {"GET * HTTP/1.1", "OPTIONS ** HTTP/1.1", "GET a HTTP/1.1", "GET ?a HTTP/1.1", "GET /a#b HTTP/1.1",
        "GET example.org:80 HTTP/1.1", "GET ftp://o/ HTTP/1.1", "GET http:/o HTTP/1.1", "GET http:// HTTP/1.1",
        "GET http:///a HTTP/1.1", "GET http://u@o/a HTTP/1.1", "GET http://u:p@o/a HTTP/1.1",
        "GET http://a\\b/ HTTP/1.1", "GET :// HTTP/1.1", "GET http HTTP/1.1", "GET http: HTTP/1.1",
        "GET file:///etc/passwd HTTP/1.1"}) {
    EXPECT_EQ(StatusOf(With("", line)), 400) << line;
  }
}

TEST(RequestHeadTest, TheTargetsHostGoesBeforeTheHeaders) {
  Text input = "GET http://o/a HTTP/1.0\r\n\r\n";
  EXPECT_EQ(Parsed(input).host(), "o");
  EXPECT_EQ(StatusOf("GET http://o/a HTTP/1.1\r\n\r\n"), 400) << "HTTP/1.1 wants the header all the same";
  EXPECT_EQ(StatusOf("GET http://o/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
}

TEST(RequestHeadTest, HostIsThereOnceAndWellFormed) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0) << "empty is allowed";
  EXPECT_EQ(StatusOf(With("Host: h\r\n")), 400);
  EXPECT_EQ(StatusOf(With("hOST: other\r\n")), 400);
  for (const char* host : {"a b", "a/b", "a@b", "a#b", "a?b", "\"a\"", "a\\b", "\xc3\xa5", "a\tb", "<a>"}) {
    EXPECT_EQ(StatusOf(Text("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"), 400) << host;
  }
}

TEST(RequestHeadTest, LinesEndInCrLfOnly) {
  for (const Text& input : std::initializer_list<Text>{
           "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n",
           "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\rHost: h\r\r", "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\rX", "GET /\r HTTP/1.1\r\n",
           "GET /\n HTTP/1.1\r\n", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
    EXPECT_EQ(StatusOf(input), 400) << input;
  }
}

TEST(RequestHeadTest, OneEmptyLineBeforeARequestIsForgiven) {
  RequestHead head;
  const Text input = "\r\n" + With("");
  const HeadResult result = ParseWhole(input, &head);
  EXPECT_TRUE(result.complete());
  EXPECT_EQ(result.size, input.size());
  EXPECT_EQ(head.path(), "/a");
  ExpectSameByteByByte(input);
  EXPECT_EQ(StatusOf("\r\n\r\n" + With("")), 400);
}

TEST(RequestHeadTest, ControlCharactersAreRefusedWhereverTheyAre) {
  const Text clean = With("X-Long-Enough-To-Be-Read-By-Words: 0123456789abcdefghij\r\nAccept: text/html\r\n");
  ASSERT_EQ(StatusOf(clean), 0);
  for (const char c : {'\0', '\1', '\b', '\n', '\v', '\f', '\r', '\x1b', '\x1f', '\x7f'}) {
    for (size_t i = 0; i + 4 < clean.size(); ++i) {
      if (clean[i] == '\r' || clean[i] == '\n') continue;
      Text bad = clean;
      bad[i] = c;
      // A return right before a line's end is followed by one and not by LF.
      RequestHead head;
      const HeadResult result = ParseWhole(bad, &head);
      EXPECT_TRUE(result.refused() && result.error.status == 400) << i << " " << static_cast<int>(c);
    }
  }
  EXPECT_EQ(StatusOf(With("X: a\tb\r\n")), 0) << "a tab within a value is a blank";
  EXPECT_EQ(StatusOf("\x16\x03\x01\x02"), 400) << "TLS where none is expected";
}

TEST(RequestHeadTest, NamesAreTokensFollowedByAColon) {
  for (const char* header :
       {"X : y", "X\t: y", ": y", "X", "X y: z", "X@: y", "X(: y", "\xc3\xa5: y", "X=y", "[X]: y", "X/Y: z", "\"X\": y",
        "Content-Length : 5", "Transfer-Encoding : chunked", "Content-Length\t: 5"}) {
    EXPECT_EQ(StatusOf(With(Text(header) + "\r\n")), 400) << header;
  }
  EXPECT_EQ(StatusOf(With("!#$%&'*+-.^_`|~09azAZ: y\r\n")), 0);
}

TEST(RequestHeadTest, LinesAreNotFolded) {
  EXPECT_EQ(StatusOf(With("X: a\r\n b\r\n")), 400);
  EXPECT_EQ(StatusOf(With("X: a\r\n\tb\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Type:\r\n a/b\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding:\r\n chunked\r\n")), 501) << "its first line alone is refused";
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n Host: h\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: h\r\n \r\n\r\n"), 400);
}

TEST(RequestHeadTest, ALengthIsDigitsSaidOnce) {
  const std::pair<const char*, uint64_t> lengths[] = {{"0", 0}, {"5", 5}, {"007", 7}, {"18446744073709551615", ~0ull}};
  for (const auto& [text, length] : lengths) {
    const Text input = With(Text("Content-Length: ") + text + "\r\n");
    const RequestHead head = Parsed(input);
    EXPECT_EQ(head.content_length(), length);
    EXPECT_EQ(head.has_body(), length > 0);
  }
  for (const char* text :
       {"", "-1", "+5", "5 5", "5,5", "5, 5", "5, 6", "0x5", "5a", "a", "5.0", "1e3", "18446744073709551616",
        "99999999999999999999999999", "\"5\"", "5;", ",5", "5,", "\xd9\xa5"}) {
    EXPECT_EQ(StatusOf(With(Text("Content-Length: ") + text + "\r\n")), 400) << text;
  }
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nContent-Length: 6\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\ncontent-length: 5\r\n")), 400);
}

TEST(RequestHeadTest, OneFramingOnly) {
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")), 400);
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  for (const char* coding : {"Chunked", "CHUNKED", "chunked \t"}) {
    const Text input = With(Text("transfer-encoding: ") + coding + "\r\n");
    EXPECT_TRUE(Parsed(input).chunked()) << coding;
  }
  for (const char* coding :
       {"", "identity", "gzip", "gzip, chunked", "chunked, chunked", "chunked, identity", "xchunked", "chunkedx",
        "chunked;q=1", "\"chunked\"", "chunked,", ",chunked", "chun ked", "c\xc3\xa9hunked"}) {
    EXPECT_EQ(StatusOf(With(Text("Transfer-Encoding: ") + coding + "\r\n")), 501) << coding;
  }
  EXPECT_EQ(StatusOf(With("Transfer-Encoding:\vchunked\r\n")), 400);
  const Text input = With("Transfer_Encoding: chunked\r\nX-Transfer-Encoding: chunked\r\n");
  EXPECT_FALSE(Parsed(input).chunked()) << "another name is another header";
}

TEST(RequestHeadTest, KeptHeadersAreGivenOnce) {
  for (const char* name :
       {"Host", "Accept", "Accept-Encoding", "Authorization", "Content-Encoding", "Content-Type", "If-Match",
        "If-None-Match", "Last-Event-ID", "Origin", "Prefer", "Traceparent", "Kvarts-Durability"}) {
    const Text header = Text(name) + ": a\r\n";
    EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n" + header + "\r\n"), 0) << name;
    EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n" + header + header + "\r\n"), 400) << name;
  }
  EXPECT_EQ(StatusOf(With("Kvarts-A: 1\r\nKVARTS-a: 1\r\n")), 400);
  EXPECT_EQ(StatusOf(With("X: 1\r\nX: 2\r\nCookie: a\r\nCookie: b\r\n")), 0) << "what is skipped is nobody's business";
}

TEST(RequestHeadTest, ExpectationsOtherThanContinueFail) {
  EXPECT_EQ(StatusOf(With("Expect: 200-ok\r\n")), 417);
  EXPECT_EQ(StatusOf(With("Expect: 100-continue, x\r\n")), 417);
  EXPECT_EQ(StatusOf(With("Expect:\r\n")), 417);
  const Text old = "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
  EXPECT_FALSE(Parsed(old).expect_continue()) << "HTTP/1.0 does not know it";
}

TEST(RequestHeadTest, WhoStaysAndWhoCloses) {
  const auto stays = [](const char* version, const char* headers) {
    const Text input = Text("GET / HTTP/") + version + "\r\nHost: h\r\n" + headers + "\r\n";
    return Parsed(input).keep_alive();
  };
  EXPECT_TRUE(stays("1.1", ""));
  EXPECT_FALSE(stays("1.0", ""));
  EXPECT_FALSE(stays("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(stays("1.1", "connection: Close\r\n"));
  EXPECT_TRUE(stays("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_TRUE(stays("1.0", "Connection: TE, keep-alive\r\n"));
  EXPECT_FALSE(stays("1.1", "Connection: keep-alive, close\r\n"));
  EXPECT_FALSE(stays("1.1", "Connection: close\r\nConnection: keep-alive\r\n"));
  EXPECT_FALSE(stays("1.0", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_TRUE(stays("1.1", "Connection: closed, ,\r\n"));
  EXPECT_TRUE(stays("1.1", "Connection:\r\n"));
  EXPECT_TRUE(stays("1.1", "Proxy-Connection: close\r\n"));
}

TEST(RequestHeadTest, LimitsHoldAtTheByte) {
  const HeadLimits limits{.max_head_bytes = 200, .max_headers = 5, .max_target_bytes = 20};
  const auto target = [](size_t size) { return With("", "GET /" + Text(size - 1, 'a') + " HTTP/1.1"); };
  EXPECT_EQ(StatusOf(target(20), limits), 0);
  EXPECT_EQ(StatusOf(target(21), limits), 414);
  EXPECT_EQ(StatusOf(target(150), limits), 414);
  const Text longest = Text(32, 'M') + " /" + Text(19, 'a') + " HTTP/1.1";
  EXPECT_EQ(StatusOf(With("", longest), limits), 0);
  EXPECT_EQ(StatusOf("\r\n" + With("", longest), limits), 0);
  EXPECT_EQ(StatusOf(With("", longest + "1"), limits), 400);
  EXPECT_EQ(StatusOf(target(5000), limits), 414);
  EXPECT_EQ(StatusOf("GET /" + Text(5000, 'a'), limits), 414) << "a line that never ends";
  EXPECT_EQ(StatusOf(Text(5000, 'A'), limits), 501);
  EXPECT_EQ(StatusOf("GET / " + Text(5000, 'a'), limits), 400);

  const auto headers = [](int count) {
    Text text;
    for (int i = 1; i < count; ++i) text += "X: y\r\n";
    return With(text);
  };
  EXPECT_EQ(StatusOf(headers(5), limits), 0);
  EXPECT_EQ(StatusOf(headers(6), limits), 431);

  const size_t rest = With("X: \r\n").size();
  EXPECT_EQ(StatusOf(With("X: " + Text(200 - rest, 'y') + "\r\n"), limits), 0);
  EXPECT_EQ(StatusOf(With("X: " + Text(201 - rest, 'y') + "\r\n"), limits), 431);
  EXPECT_EQ(StatusOf(With("X: " + Text(199 - rest, 'y') + "\r\n") + "a body that makes it longer", limits), 0);
  EXPECT_EQ(StatusOf(Text("GET / HTTP/1.1\r\nX: ") + Text(500, 'y'), limits), 431) << "a header that never ends";
}

TEST(RequestHeadTest, TheDefaultsHaveRoomForTheLongestKey) {
  Text key;
  for (int i = 0; i < 8 << 10; ++i) key += "%ff";
  EXPECT_EQ(StatusOf(With("X: " + Text(8 << 10, 'y') + "\r\n", "GET /keys/" + key + " HTTP/1.1")), 0);
  EXPECT_EQ(StatusOf(With("", "GET /" + key + Text(1025, 'a') + " HTTP/1.1")), 414);
  Text many;
  for (int i = 0; i < 100; ++i) many += "X: y\r\n";
  EXPECT_EQ(StatusOf(With(many)), 431);
}

TEST(RequestHeadTest, EightKvartsHeadersFit) {
  Text headers;
  for (char c = 'a'; c < 'a' + 8; ++c) headers += Text("Kvarts-") + c + ": " + c + "\r\n";
  const Text input = With(headers);
  const RequestHead head = Parsed(input);
  EXPECT_EQ(head.Header("kvarts-a"), "a");
  EXPECT_EQ(head.Header("kvarts-h"), "h");
  EXPECT_EQ(StatusOf(With(headers + "Kvarts-i: i\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Kvarts-: 1\r\n")), 0) << "no name after the dash";
}

TEST(RequestHeadTest, MoreIsAwaitedAtEveryPrefix) {
  const Text input = "\r\n" + With("Content-Length: 3\r\nX: y\r\n");
  for (size_t size = 0; size < input.size(); ++size) EXPECT_EQ(StatusOf(input.substr(0, size)), -1) << size;
}

// Requests that are nearly right: pieces of requests, in any order.
rc::Gen<Text> Hostile() {
  const auto piece = rc::gen::element<Text>(
      "GET ", "/", "/a?b", " HTTP/1.1\r\n", "Host: h\r\n", "GET / HTTP/1.1\r\nHost: h\r\n", "\r\n", "\r", "\n", " ",
      "\t", ":", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Kvarts-A: b\r\n", "Kvarts-", "X: y\r\n",
      "Accept: a\r\n", "aaaaaaaaaaaaaaaaaaaaaaaa", "Connection: close\r\n", "http://h", Text(1, '\0'), "\x7f", "\xff",
      "Expect: 100-continue\r\n");
  return rc::gen::map(rc::gen::container<std::vector<Text>>(piece), [](const std::vector<Text>& pieces) {
    Text all;
    for (const Text& one : pieces) all += one;
    return all;
  });
}

RC_GTEST_PROP(RequestHeadProperty, PiecesGetTheAnswerOfTheWhole, ()) {
  const Text input = *Hostile();
  const HeadLimits limits{.max_head_bytes = *rc::gen::inRange<size_t>(10, 150),
                          .max_headers = 4,
                          .max_target_bytes = *rc::gen::inRange<size_t>(1, 40)};
  const size_t cut = *rc::gen::inRange<size_t>(0, input.size() + 1);
  ExpectSameInPieces(input, {cut}, limits);
  ExpectSameByteByByte(input, limits);
  RC_ASSERT(!testing::Test::HasFatalFailure());
}

RC_GTEST_PROP(RequestHeadProperty, WhatFollowsAHeadDoesNotChangeIt, ()) {
  const Text request = With("");
  const Text input = request + *Hostile();
  RequestHead head;
  const HeadResult result = ParseWhole(input, &head);
  RC_ASSERT(result.complete());
  RC_ASSERT(result.size == request.size());
}

}  // namespace
}  // namespace kvarts::http
