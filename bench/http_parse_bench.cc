// HTTP's framing by itself: what a request and its answer cost before and after anything is looked up. For finding
// where time goes; none of these is a target.
#include <benchmark/benchmark.h>

#include "net/http/negotiate.h"
#include "net/http/request_head.h"
#include "net/http/response_head.h"
#include "net/http/target.h"

namespace kvarts::bench {
namespace {

using http::HeadParser;
using http::RequestHead;

constexpr std::string_view kLoadGenerator =
    "GET /keys/user:0000000000123456 HTTP/1.1\r\n"
    "Host: 127.0.0.1:7700\r\n"
    "\r\n";

constexpr std::string_view kSdk =
    "GET /keys/user%3A0000000000123456 HTTP/1.1\r\n"
    "Host: 127.0.0.1:7700\r\n"
    "User-Agent: python-requests/2.31.0\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Accept: */*\r\n"
    "Connection: keep-alive\r\n"
    "\r\n";

constexpr std::string_view kPut =
    "PUT /keys/user:0000000000123456 HTTP/1.1\r\n"
    "Host: 127.0.0.1:7700\r\n"
    "User-Agent: kvarts-go/1.0\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 131\r\n"
    "Authorization: Bearer kv_0123456789abcdefghijklmnopqrstuvwxyz\r\n"
    "Kvarts-Durability: interval\r\n"
    "\r\n";

constexpr std::string_view kBrowser =
    "GET /keys?prefix=user&limit=100 HTTP/1.1\r\n"
    "Host: localhost:7700\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "DNT: 1\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-Site: none\r\n"
    "\r\n";

void ParseHead(benchmark::State& state, std::string_view request) {
  // As in a connection's buffer: more room behind the request.
  std::string buffer(request);
  HeadParser parser;
  RequestHead head;
  for (auto _ : state) {
    benchmark::DoNotOptimize(buffer.data());
    benchmark::DoNotOptimize(parser.Parse(buffer, &head));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * request.size()));
}
BENCHMARK_CAPTURE(ParseHead, load_generator, kLoadGenerator);
BENCHMARK_CAPTURE(ParseHead, sdk, kSdk);
BENCHMARK_CAPTURE(ParseHead, put, kPut);
BENCHMARK_CAPTURE(ParseHead, browser, kBrowser);

void DecodeKey(benchmark::State& state, std::string_view text) {
  Bytes scratch;
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    benchmark::DoNotOptimize(http::PercentDecode(text, &scratch));
  }
}
BENCHMARK_CAPTURE(DecodeKey, plain, "user:0000000000123456");
BENCHMARK_CAPTURE(DecodeKey, encoded, "user%3A0000000000123456");

void ReadQuery(benchmark::State& state) {
  std::string_view text = "prefix=user%3A&limit=100&reverse=true";
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    http::QueryReader query(text);
    benchmark::DoNotOptimize(query.Get("prefix"));
    benchmark::DoNotOptimize(query.Uint("limit", 10, 1, 1000));
    benchmark::DoNotOptimize(query.Flag("reverse"));
    benchmark::DoNotOptimize(query.Finish());
  }
}
BENCHMARK(ReadQuery);

void Negotiate(benchmark::State& state, std::string_view accept) {
  constexpr std::string_view kOffered[] = {"application/json", "application/octet-stream"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(accept);
    benchmark::DoNotOptimize(http::ChooseMedia(accept, kOffered));
  }
}
BENCHMARK_CAPTURE(Negotiate, anything, "*/*");
BENCHMARK_CAPTURE(Negotiate, single, "application/octet-stream");
BENCHMARK_CAPTURE(Negotiate, browser, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

// The answer to a GET with so many bytes of JSON.
void WriteAnswer(benchmark::State& state) {
  const http::HttpDate date({1'751'709'330'000'000});
  const std::string body(static_cast<size_t>(state.range(0)), 'x');
  Bytes out;
  out.reserve(64 << 10);
  for (auto _ : state) {
    out.clear();
    http::ResponseWriter answer(&out, date, {});
    answer.Begin(200);
    answer.ContentType("application/json");
    answer.ETag("7346178361837461");
    answer.body()->append(body);
    answer.Finish();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(WriteAnswer)->Arg(20)->Arg(180)->Arg(2000)->Arg(20000);

}  // namespace
}  // namespace kvarts::bench

BENCHMARK_MAIN();
