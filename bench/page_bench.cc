// A page of 1,000 keys over HTTP against the least that it can cost: the embedded scan, and writing its keys and values
// to a connection of the same kind. CPU is that of the server's process, and of the thread that scans and writes; both
// are pinned to one core, and whoever reads what they send to the other. Wall is the time between two pages on one
// connection; over HTTP it contains the way of the request.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "load/generator.h"
#include "load/http_protocol.h"
#include "load/socket.h"
#include "servers/contenders.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr size_t kEntries = 1000;
constexpr uint64_t kFillBatch = 1000;

// Two ends of a connection through the loopback interface.
struct Connected {
  int writer = -1;
  int reader = -1;

  Connected();
  ~Connected() { close(writer), close(reader); }
};

Connected::Connected() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  Check(bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener, 1) == 0 &&
            getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0,
        "there is no free port");
  reader = load::Connect("127.0.0.1", ntohs(address.sin_port));
  writer = accept(listener, nullptr, nullptr);
  Check(reader >= 0 && writer >= 0, "there is no connection");
  close(listener);
  fcntl(reader, F_SETFL, 0);  // waits for what it reads
}

class PageBench {
 public:
  explicit PageBench(const Arguments& arguments)
      : keys_(arguments.full ? 1'000'000 : 100'000),
        rounds_(arguments.RoundsOr(arguments.full ? 15 : 7)),
        pages_(arguments.full ? 1000 : 300),
        scratch_(arguments) {}

  void Run();

 private:
  void FillEmbedded();
  void FillServer(const load::ServerProcess& server) const;
  // What a page cost, from different places of the store.
  Sample Embedded();
  Sample OverHttp(const load::ServerProcess& server, bool values);

  const uint64_t keys_;
  const int rounds_;
  const uint64_t pages_;
  Scratch scratch_;
  std::optional<Database> database_;
  uint64_t http_bytes_ = 0;  // of one answer
};

void PageBench::FillEmbedded() {
  database_.emplace(Must(Database::Open(scratch_.Sub("embedded"))));
  WriteOptions options;
  options.durability = Durability::kNone;
  std::string value;
  for (uint64_t first = 0; first < keys_; first += kFillBatch) {
    Must(database_->Transact(
        [&](Transaction& transaction) -> Status {
          for (uint64_t key = first; key < std::min(keys_, first + kFillBatch); ++key) {
            value.clear();
            load::AppendValue(key, kValueBytes, &value);
            const Status put = transaction.Put(KeyOf(key), value);
            if (!put.has_value()) return put;
          }
          return {};
        },
        options));
  }
}

void PageBench::FillServer(const load::ServerProcess& server) const {
  load::HttpSettings http;
  http.value_bytes = kValueBytes;
  http.headers = {"Kvarts-Durability: none"};
  load::Settings settings;
  settings.port = server.port();
  settings.connections = 1;
  settings.pipeline = 4;
  settings.workload.keys = keys_;
  settings.workload.fill_batch = kFillBatch;
  settings.protocol = [&] { return std::make_unique<load::HttpProtocol>(http); };
  const load::Report filled = load::MakeLoad(settings);
  Check(filled.Errors(false) == 0, "the store cannot be filled: " + filled.first_error);
}

Sample PageBench::Embedded() {
  const Connected connected;
  std::jthread reader([&] {
    std::vector<char> block(256 << 10);
    while (recv(connected.reader, block.data(), block.size(), 0) > 0) {
    }
  });
  std::mt19937_64 random(1);
  const Sample sample = OnThreads("embedded", 1, pages_, [&](int) {
    load::PinToServerCore();
    for (uint64_t i = 0; i < pages_; ++i) {
      const Page page = Must(database_->Scan({KeyOf(random() % (keys_ - kEntries)), {}}));
      Check(page.entries.size() == kEntries, "entries are missing");
      std::string out;
      out.reserve(kEntries * (kKeyBytes + kValueBytes));
      for (const Entry& entry : page.entries) out.append(entry.key).append(entry.value);
      for (size_t sent = 0; sent < out.size();) {
        const ssize_t n = send(connected.writer, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
        Check(n > 0, "a page cannot be written");
        sent += static_cast<size_t>(n);
      }
    }
  });
  shutdown(connected.writer, SHUT_WR);
  return sample;
}

// Each page begins somewhere else, by its own path.
class PageProtocol final : public load::Protocol {
 public:
  PageProtocol(uint64_t keys, bool values) : keys_(keys), values_(values), http_({}), random_(1) {}
  void AppendRequest(const load::Operation&, std::string* out) const override {
    out->append("GET /keys?start=");
    load::AppendKey(random_() % (keys_ - kEntries), out);
    out->append(fmt::format("&limit={}&values={} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", kEntries, values_));
  }
  load::Answer Look(load::OperationKind asked, std::string_view in) const override { return http_.Look(asked, in); }

 private:
  const uint64_t keys_;
  const bool values_;
  const load::HttpProtocol http_;
  mutable std::mt19937_64 random_;
};

Sample PageBench::OverHttp(const load::ServerProcess& server, bool values) {
  load::Settings settings;
  settings.port = server.port();
  settings.connections = 1;
  settings.requests = pages_;
  settings.workload.gets = 0;
  settings.protocol = [&] { return std::make_unique<PageProtocol>(keys_, values); };
  server.WaitUntilIdle();
  const int64_t before = server.CpuNanos();
  const load::Report report = load::MakeLoad(settings);
  const auto cpu = static_cast<double>(server.CpuNanos() - before);
  Check(report.Errors(false) == 0 && report.answers == pages_, "not answered as expected: " + report.first_error);
  if (values) http_bytes_ = report.bytes_received / pages_;
  return {cpu / static_cast<double>(pages_), 1e9 / report.Rate()};
}

void PageBench::Run() {
  load::PinToGeneratorCore();
  FillEmbedded();
  std::filesystem::create_directories(scratch_.Sub(""));
  const auto server = load::StartKvarts(load::KvartsProgram(), scratch_.Sub("served"));
  FillServer(server);
  server.WaitUntilIdle(), WaitUntilIdle();
  OverHttp(server, true), Embedded();  // warm
  Comparison page({.id = "page", .what = "page of 1,000 keys over HTTP, against scan and write", .bound = 1.5});
  Comparison keys_only({.id = "page-keys", .what = "the same without values, against scan and write with them"});
  for (int round = 0; round < rounds_; ++round) {
    const Sample embedded = Embedded();
    page.Add(OverHttp(server, true), embedded);
    keys_only.Add(OverHttp(server, false), embedded);
  }
  page.Report();
  keys_only.Report();
  Note(fmt::format("A page of 1,000 keys has {} bytes over HTTP, and {} of keys and values.", http_bytes_,
                   kEntries * (kKeyBytes + kValueBytes)));
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::PageBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
