// What is wrong between options that are right by themselves.
#include <fmt/format.h>

#include <algorithm>

#include "base/shown.h"
#include "net/address.h"
#include "server/config.h"

namespace kvarts {
namespace {

using Problems = std::vector<std::string>;

void CheckAddresses(std::string_view option, const std::vector<std::string>& texts, std::vector<std::string>* seen,
                    Problems* problems) {
  for (const std::string& text : texts) {
    const Result<net::Address> address = net::ParseAddress(text);
    if (!address.has_value()) {
      problems->push_back(fmt::format("{}: {}: {}", option, Shown(text), address.error().text()));
      continue;
    }
    // Port 0 is another one each time.
    const bool chosen = address->kind == net::Address::Kind::kTcp && address->port == 0;
    if (!chosen && std::ranges::find(*seen, address->ToString()) != seen->end()) {
      problems->push_back(fmt::format("{}: {}: given twice", option, Shown(text)));
    }
    seen->push_back(address->ToString());
  }
}

void CheckListen(const ServerOptions& options, Problems* problems) {
  if (options.listen.empty()) problems->emplace_back("listen: there is no address");
  std::vector<std::string> seen;
  CheckAddresses("listen", options.listen, &seen, problems);
  CheckAddresses("redis.listen", options.redis.listen, &seen, problems);
}

// "*" or scheme://host[:port].
bool IsOrigin(std::string_view text) {
  if (text == "*") return true;
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  const std::string_view host = text.substr(scheme + 3);
  return !host.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; }) &&
         host.find_first_of("/?#,\"@") == std::string_view::npos;
}

void CheckTls(const ServerOptions::Tls& tls, Problems* problems) {
  if (!tls.key.empty() && tls.certificate.empty()) problems->emplace_back("tls.key: there is no tls.certificate");
  if (tls.key.empty() && !tls.certificate.empty()) problems->emplace_back("tls.certificate: there is no tls.key");
  if (!tls.client_ca.empty() && tls.certificate.empty()) {
    problems->emplace_back("tls.client_ca: there is no tls.certificate");
  }
}

struct Bound {
  std::string_view smaller;
  std::string_view larger;
};
// Options of one type, of which the first must not exceed the second.
constexpr Bound kBounds[] = {
    {"hot_cache", "memory_budget"},
    {"scan.tombstones_warn", "scan.tombstones_fail"},
    {"limits.max_value_bytes", "limits.max_commit_bytes"},
    {"http.default_page_limit", "http.max_page_limit"},
    {"http.max_page_limit", "limits.max_page_entries"},
    {"http.max_target_bytes", "http.max_head_bytes"},
    {"http.max_body_bytes", "http.max_inflight_bytes"},
};

void CheckBounds(const ServerOptions& options, Problems* problems) {
  ServerOptions copy = options;
  for (const Bound& bound : kBounds) {
    const Option& smaller = *FindOption(bound.smaller);
    const Option& larger = *FindOption(bound.larger);
    if (*std::get<uint64_t*>(smaller.place(copy)) <= *std::get<uint64_t*>(larger.place(copy))) continue;
    problems->push_back(fmt::format("{}: {} exceeds {}, which is {}", smaller.name, smaller.Text(copy), larger.name,
                                    larger.Text(copy)));
  }
}

}  // namespace

std::vector<std::string> ConfigProblems(const ServerOptions& options) {
  Problems problems;
  CheckListen(options, &problems);
  if (options.data.empty() && options.engine == EngineKind::kRocksdb)
    problems.emplace_back("data: there is no directory");
  if (options.shards.empty() && options.engine == EngineKind::kPostgres)
    problems.emplace_back("shards: the postgres engine needs the file that names its servers");
  if (options.durability > Durability::kSync && options.engine != EngineKind::kPostgres)
    problems.push_back(fmt::format("durability: {}: only the postgres engine has replicas that can promise it",
                                   DurabilityName(options.durability)));
  CheckTls(options.tls, &problems);
  CheckBounds(options, &problems);
  for (const std::string& origin : options.http.cors_origins) {
    if (IsOrigin(origin)) continue;
    problems.push_back(fmt::format("http.cors_origins: {}: not an origin; write https://example.org", Shown(origin)));
  }
  return problems;
}

}  // namespace kvarts
