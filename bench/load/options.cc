#include "load/options.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace kvarts::load {

const char kUsage[] = R"(usage: kvarts_load --target HOST:PORT [OPTIONS]

What is asked
  --get N, --put N         weights of gets and puts (100 and 0)
  --path PATH              asks for this path instead
  --speak http|redis       the protocol (http)
  --read 'WORDS'           what a get is over Redis' protocol, with {key} and {number} ("GET {key}")
  --write 'WORDS'          what a put is, with {value} as well ("SET {key} {value}"); for --load-only, too: --batch 1
  --load-only              puts every key once, in order, and ends
  --batch N                keys in one commit of --load-only; with 1 they are single puts (1000)
  --keys N                 how many keys there are (1000000)
  --distribution D         uniform or zipfian (zipfian)
  --theta T                skew of zipfian (0.99)
  --in-order               the lowest keys are the hottest; otherwise they lie anywhere
  --seed N                 (1)
  --value-size N           (100)
  --accept json|raw        how values are to be answered (json)
  --content json|raw       how values are put (raw)
  --header 'NAME: VALUE'   with every request; may be repeated
  --allow-missing          a key that is not there is no error

How
  --connections N          (64)
  --threads N              that share the connections (1)
  --pipeline N             requests under way on a connection (1)
  --duration SECONDS       (10)
  --requests N             ends after so many instead
  --warmup SECONDS         before what is measured (0)
  --rate N                 requests a second, whatever the server does; latency counts from when each was due
  --spin                   never sleeps: for a core of its own
  --idle N                 opens N connections, asks once on each, and holds them for the duration
  --json                   the report in JSON
)";

namespace {

class Words {
 public:
  explicit Words(std::span<const char* const> words) : words_(words) {}

  // The next option, without its value.
  std::optional<std::string_view> Next() {
    if (at_ == words_.size()) return {};
    const std::string_view word = words_[at_++];
    const size_t equals = word.find('=');
    attached_.reset();
    if (equals != word.npos) attached_ = word.substr(equals + 1);
    return word.substr(0, equals);
  }
  bool HasValue() const { return attached_.has_value(); }
  std::string_view Value() {
    if (attached_.has_value()) return *attached_;
    if (at_ < words_.size()) return words_[at_++];
    bad_ = true;
    return {};
  }
  template <class T>
  void Number(T* number) {
    const std::string_view text = Value();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) bad_ = true;
  }
  // One of two words.
  void Choice(std::string_view no, std::string_view yes, bool* chosen) {
    const std::string_view text = Value();
    if (text != no && text != yes) bad_ = true;
    *chosen = text == yes;
  }
  void Bad() { bad_ = true; }
  bool bad() const { return bad_; }

 private:
  const std::span<const char* const> words_;
  size_t at_ = 0;
  std::optional<std::string_view> attached_;
  bool bad_ = false;
};

void TakeTarget(Words& words, Settings* settings) {
  const std::string_view target = words.Value();
  const size_t colon = target.rfind(':');
  if (colon == target.npos || colon == 0) return words.Bad();
  settings->host = target.substr(0, colon);
  const auto [end, error] = std::from_chars(target.data() + colon + 1, target.data() + target.size(), settings->port);
  if (error != std::errc() || end != target.data() + target.size()) words.Bad();
}

// Options that take no value.
bool TakeFlag(std::string_view name, LoadOptions* options, bool* fill) {
  if (name == "--load-only") return *fill = true;
  if (name == "--in-order") return options->settings.workload.scattered = false, true;
  if (name == "--allow-missing") return options->settings.allow_missing = true;
  if (name == "--spin") return options->settings.spin = true;
  if (name == "--json") return options->json = true;
  return false;
}

// What is asked.
bool TakeContent(std::string_view name, Words& words, LoadOptions* options, uint64_t* batch) {
  WorkloadSettings& workload = options->settings.workload;
  HttpSettings& http = options->http;
  if (name == "--get") return words.Number(&workload.gets), true;
  if (name == "--put") return words.Number(&workload.puts), true;
  if (name == "--path") return http.path = words.Value(), true;
  if (name == "--speak") return words.Choice("http", "redis", &options->speaks_resp), true;
  if (name == "--read") return options->resp.get = words.Value(), true;
  if (name == "--write") return options->resp.put = words.Value(), true;
  if (name == "--batch") return words.Number(batch), true;
  if (name == "--keys") return words.Number(&workload.keys), true;
  if (name == "--distribution") return words.Choice("uniform", "zipfian", &workload.zipfian), true;
  if (name == "--theta") return words.Number(&workload.skew), true;
  if (name == "--seed") return words.Number(&workload.seed), true;
  if (name == "--value-size") return words.Number(&http.value_bytes), true;
  if (name == "--accept") return words.Choice("json", "raw", &http.accept_raw), true;
  if (name == "--content") return words.Choice("raw", "json", &http.put_json), true;
  if (name == "--header") return http.headers.emplace_back(words.Value()), true;
  return false;
}

// How it is asked.
bool TakeManner(std::string_view name, Words& words, LoadOptions* options) {
  Settings& settings = options->settings;
  if (name == "--target") return TakeTarget(words, &settings), true;
  if (name == "--connections") return words.Number(&settings.connections), true;
  if (name == "--threads") return words.Number(&settings.threads), true;
  if (name == "--pipeline") return words.Number(&settings.pipeline), true;
  if (name == "--duration") return words.Number(&settings.seconds), true;
  if (name == "--requests") return words.Number(&settings.requests), true;
  if (name == "--warmup") return words.Number(&settings.warmup), true;
  if (name == "--rate") return words.Number(&settings.rate), true;
  if (name == "--idle") return words.Number(&options->idle), true;
  return false;
}

std::string Contradiction(const LoadOptions& options) {
  const Settings& settings = options.settings;
  if (settings.threads == 0 || settings.pipeline == 0) return "--threads and --pipeline are at least 1";
  if (settings.connections < settings.threads) return "every thread needs a connection";
  if (settings.workload.keys == 0) return "--keys is at least 1";
  // The generator of ranks is made for skews below one.
  if (!(settings.workload.skew > 0 && settings.workload.skew < 1)) return "--theta lies between 0 and 1";
  if (!(settings.seconds > 0) || !(settings.warmup >= 0) || !(settings.rate >= 0))
    return "times and rates are positive";
  if (settings.workload.gets + settings.workload.puts == 0 && options.http.path.empty() &&
      settings.workload.fill_batch == 0) {
    return "there is nothing to ask for";
  }
  return {};
}

}  // namespace

std::string ParseOptions(std::span<const char* const> words, LoadOptions* options) {
  Words left(words);
  bool fill = false;
  uint64_t batch = 1000;
  while (const auto name = left.Next()) {
    if (TakeFlag(*name, options, &fill)) {
      if (left.HasValue()) return "no value is expected: " + std::string(*name);
    } else if (!TakeContent(*name, left, options, &batch) && !TakeManner(*name, left, options)) {
      return "there is no such option: " + std::string(*name);
    }
    if (left.bad()) return "the value makes no sense: " + std::string(*name);
  }
  WorkloadSettings& workload = options->settings.workload;
  if (!options->http.path.empty()) workload.gets = workload.puts = 0;
  if (fill) workload.fill_batch = batch;
  if (fill && batch == 0) return "--batch is at least 1";
  if (fill && batch != 1 && options->speaks_resp) return "over Redis' protocol every key is put by itself: --batch 1";
  options->http.host = options->settings.host;
  options->settings.protocol = [http = options->http] { return std::make_unique<HttpProtocol>(http); };
  options->resp.value_bytes = options->http.value_bytes;
  if (options->speaks_resp) {
    options->settings.protocol = [resp = options->resp] { return std::make_unique<RespProtocol>(resp); };
  }
  return Contradiction(*options);
}

}  // namespace kvarts::load
