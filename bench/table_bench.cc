// Tables against the keys beneath them, on RocksDB: what a row costs beside a raw key with a value of the same size,
// what an index costs beside one more key, and whether any of it grows with the table.
//
// Contenders take turns in one process and one store. CPU time is that of the whole process, without RocksDB's
// background threads where it is said so.
#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "api/open.h"
#include "core/keyspace.h"
#include "core/store.h"
#include "encoding/document_writer.h"
#include "model/table/query.h"
#include "model/table/rows.h"
#include "model/table/tables.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kTextBytes = 60;   // of a field that fills the row up
constexpr uint64_t kGroups = 1000;  // rows that an index has together: a hundredth of a percent of the table

RunOptions Unsynced() {
  RunOptions options;
  options.durability = Durability::kNone;
  return options;
}

Bytes RowOf(uint64_t n, uint64_t salt = 0) {
  Bytes bytes;
  DocumentWriter row(&bytes);
  row.BeginMap().Name("id").Text(KeyOf(n)).Name("group").Int(static_cast<int64_t>((n + salt) % kGroups));
  row.Name("n").Int(static_cast<int64_t>(salt)).Name("text").Text(std::string(kTextBytes, 'x')).EndMap();
  return bytes;
}

IndexSpec GroupIndex(int number) {
  IndexSpec spec;
  spec.name = fmt::format("group{}", number);
  spec.partition.push_back({DocumentPath::Parse("group").value(), KeyType::kNumber});
  return spec;
}

TableSpec SpecWith(int indexes) {
  TableSpec spec;
  spec.key.partition.emplace_back().name = "id";
  for (int i = 0; i < indexes; ++i) spec.indexes.push_back(GroupIndex(i));
  return spec;
}

// A store with tables in a folder of its own.
class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments), rounds_(arguments.RoundsOr(arguments.full ? 11 : 5)), scratch_(arguments) {
    engine_ = Must(OpenRocksEngine(scratch_.Sub("kvarts"), RocksOptionsOf(Options())));
    store_ = Must(Store::Open(*engine_));
    tables_ = Must(Tables::Open(*store_));
    Must(tables_->CreateProject("p"));
    Must(tables_->CreateDataset({"p", "d"}));
  }
  // The store outlives its engine, which tells it of what is done.
  ~Bench() {
    tables_.reset();
    store_->Stop();
    engine_.reset();
  }

  bool Run() {
    bool met = Gets();
    met = Puts() && met;
    met = Queries() && met;
    met = Builds() && met;
    met = BuildsBeside() && met;
    return Growth() && met;
  }

 private:
  TablePath At(const std::string& name) { return {"p", "d", name}; }
  TablePtr Create(const std::string& name, int indexes) {
    return Must(tables_->CreateTable(At(name), SpecWith(indexes)));
  }

  void PutRowIn(const std::string& table, Bytes row) {
    const PutRow put{std::move(row)};
    Must(store_->RunBody(
        [&](Txn& txn) -> Status {
          KVARTS_TRY(const TablePtr info, tables_->Use(txn, At(table)));
          return RowWriter(txn, *info).Put(put, nullptr);
        },
        Unsynced()));
  }
  void PutRaw(BytesView key, BytesView value) {
    Must(store_->RunBody(
        [&](Txn& txn) -> Status {
          txn.Put(key, value);
          return {};
        },
        Unsynced()));
  }
  // Many rows in one commit, for filling.
  void Fill(const std::string& table, uint64_t rows) {
    constexpr uint64_t kTogether = 500;
    for (uint64_t from = 0; from < rows; from += kTogether) {
      Must(store_->RunBody(
          [&](Txn& txn) -> Status {
            KVARTS_TRY(const TablePtr info, tables_->Use(txn, At(table)));
            RowWriter writer(txn, *info);
            for (uint64_t n = from; n < std::min(rows, from + kTogether); ++n) {
              KVARTS_CHECK_OK(writer.Put({RowOf(n)}, nullptr));
            }
            return {};
          },
          Unsynced()));
    }
  }
  Sample Measured(uint64_t operations, const std::function<void(uint64_t)>& one) {
    return OnThreads("table", 1, operations, [&](int) {
      for (uint64_t i = 0; i < operations; ++i) one(i);
    });
  }

  bool Gets() {
    if (!arguments_.Wants("table-get")) return true;
    constexpr uint64_t kRows = 10'000;  // all of them hot
    const TablePtr table = Create("gets", 0);
    Fill("gets", kRows);
    const Bytes like = Must(EncodeRow({}, 0, DocumentView(RowOf(1))));
    for (uint64_t n = 0; n < kRows; ++n) PutRaw(UserKey(KeyOf(n)), like);
    std::vector<std::string> keys;
    for (const uint32_t n : Shuffled(kRows, 1)) keys.push_back(KeyOf(n));
    Comparison compared({"table-get", "get of a row, against a key with a value of its size, both hot", 1.3});
    const auto row = [&](uint64_t i) {
      const Item key(keys[i % kRows]);
      ReadRow read;
      Must(GetRow(*engine_, *table, {&key, 1}, {}, &read));
      if (!read.record) Check(false, "a row is missing");
    };
    const auto raw = [&](uint64_t i) {
      if (!Must(GetOne(*engine_, UserKey(keys[i % kRows])))) Check(false, "a key is missing");
    };
    const uint64_t operations = arguments_.full ? 1'000'000 : 200'000;
    for (int round = -1; round < rounds_; ++round) {
      Sample ours;
      Sample reference;
      TakeTurns(
          round + 1, [&] { ours = Measured(operations, row); }, [&] { reference = Measured(operations, raw); });
      if (round >= 0) compared.Add(ours, reference);
    }
    return compared.Report();
  }

  bool Puts() {
    if (!arguments_.Wants("table-put")) return true;
    constexpr uint64_t kRows = 10'000;
    const uint64_t operations = arguments_.full ? 100'000 : 20'000;
    for (int indexes = 0; indexes <= 2; ++indexes) Create(fmt::format("puts{}", indexes), indexes);
    for (int indexes = 0; indexes <= 2; ++indexes) Fill(fmt::format("puts{}", indexes), kRows);
    const Bytes like = Must(EncodeRow({}, 0, DocumentView(RowOf(1))));
    Comparison plain({"table-put", "put of a row without indexes, against a raw put", 1.6});
    Comparison indexed({"table-put-index", "what one index adds, its value changed, against a raw put", 0});
    Comparison unchanged({"table-put-same", "what one index adds, its value unchanged, against a raw put", 0});
    for (int round = -1; round < rounds_; ++round) {
      Sample raw, none, one, same;
      const uint64_t salt = static_cast<uint64_t>(round + 2);
      const auto put = [&](const char* table, uint64_t with) {
        return Measured(operations, [&, table, with](uint64_t i) { PutRowIn(table, RowOf(i * 7919 % kRows, with)); });
      };
      TakeTurns(
          round + 1,
          [&] {
            raw = Measured(operations, [&](uint64_t i) {
              // The value is made here, too, as rows are.
              const Bytes row = RowOf(i * 7919 % kRows, salt);
              PutRaw(UserKey(KeyOf(i * 7919 % kRows)), Must(EncodeRow({}, 0, DocumentView(row))));
            });
          },
          [&] { none = put("puts0", salt); }, [&] { one = put("puts1", salt); }, [&] { same = put("puts2", 0); });
      if (round < 0) continue;
      plain.Add(none, raw);
      indexed.Add({one.cpu - none.cpu, one.wall - none.wall}, raw);
      unchanged.Add({(same.cpu - none.cpu) / 2, (same.wall - none.wall) / 2}, raw);
    }
    indexed.Report();
    unchanged.Report();
    return plain.Report();
  }

  RowQuery GroupOf(uint64_t group) {
    RowQuery query;
    query.index = "group0";
    DocumentWriter(&query.partition).BeginMap().Name("group").Int(static_cast<int64_t>(group)).EndMap();
    return query;
  }

  bool Queries() {
    if (!arguments_.Wants("table-query")) return true;
    const uint64_t rows = 100 * kGroups;
    const TablePtr table = Create("queries", 1);
    Fill("queries", rows);
    Comparison compared(
        {"table-query", "query of 100 rows by index, against 100 entries iterated and 100 rows by multi-get", 1.5});
    const uint64_t operations = arguments_.full ? 2'000 : 500;
    const auto ours = [&](uint64_t i) {
      const RowPage page = Must(QueryRows(*engine_, *table, GroupOf(i % kGroups), {}));
      Check(page.rows.size() == 100, "rows are missing");
    };
    const auto raw = [&](uint64_t i) {
      KeyBuffer prefix;
      prefix.append(table->indexes()[0].prefix);
      TupleWriter<KeyBuffer>(&prefix).Begin().Decimal(Decimal::FromInt(static_cast<int64_t>(i % kGroups))).End();
      const auto view = Must(engine_->OpenView());
      ScanRequest request;
      request.range = KeyRange::Prefix(prefix);
      request.max_entries = 100;
      const ScanPage page = Must(view->Scan(request));
      std::vector<Bytes> keys;
      for (size_t at = 0; at < page.size(); ++at)
        keys.push_back(Bytes(table->rows()).append(page[at].key.substr(prefix.size())));
      const std::vector<BytesView> views(keys.begin(), keys.end());
      std::vector<std::optional<Record>> records(keys.size());
      Must(view->Get(views, records, {}));
      Check(records.size() == 100 && records[0].has_value(), "rows are missing");
    };
    for (int round = -1; round < rounds_; ++round) {
      Sample a, b;
      TakeTurns(
          round + 1, [&] { a = Measured(operations, ours); }, [&] { b = Measured(operations, raw); });
      if (round >= 0) compared.Add(a, b);
    }
    return compared.Report();
  }

  bool Builds() {
    if (!arguments_.Wants("table-build")) return true;
    const uint64_t rows = arguments_.full ? 1'000'000 : 100'000;
    Create("builds", 0);
    Fill("builds", rows);
    WaitUntilIdle();
    JobRunner runner(*store_, tables_->JobKinds());
    const int64_t begin = WallNanos();
    Must(tables_->CreateIndex(At("builds"), GroupIndex(0)));
    while (Must(runner.TakeTurn()).worked) {
    }
    const double rate = static_cast<double>(rows) * 1e9 / static_cast<double>(WallNanos() - begin);
    Check(Must(tables_->Find(At("builds")))->indexes()[0].state == IndexState::kReady, "the index is not ready");
    return ReportRatios({"table-build", "rows a second that an index build reads, idle, against 100,000", 1, false},
                        fmt::format("{:.0f} /s", rate), "100000 /s", {rate / 100'000});
  }

  // The same while somebody writes into the table, who is slowed down by it.
  bool BuildsBeside() {
    if (!arguments_.Wants("table-build-beside")) return true;
    const uint64_t rows = arguments_.full ? 1'000'000 : 200'000;
    Create("beside", 0);
    Fill("beside", rows);
    WaitUntilIdle();
    std::atomic<uint64_t> written = 0;
    const std::jthread writer([&](const std::stop_token& stop) {
      for (uint64_t i = 0; !stop.stop_requested(); ++i, ++written) PutRowIn("beside", RowOf(i * 7919 % rows, i));
    });
    const auto writes_during = [&](const std::function<void()>& what) {
      const uint64_t before = written;
      const int64_t begin = WallNanos();
      what();
      return static_cast<double>(written - before) * 1e9 / static_cast<double>(WallNanos() - begin);
    };
    const auto writes_alone = [&] {
      return writes_during([] { std::this_thread::sleep_for(std::chrono::seconds(3)); });
    };
    const double without_index = writes_alone();
    JobRunner runner(*store_, tables_->JobKinds());
    double rate = 0;
    const double beside = writes_during([&] {
      const int64_t begin = WallNanos();
      Must(tables_->CreateIndex(At("beside"), GroupIndex(0)));
      for (JobRunner::Turn turn = Must(runner.TakeTurn()); turn.worked; turn = Must(runner.TakeTurn())) {
        std::this_thread::sleep_for(std::chrono::microseconds(turn.rest.micros));
      }
      rate = static_cast<double>(rows) * 1e9 / static_cast<double>(WallNanos() - begin);
    });
    Check(Must(tables_->Find(At("beside")))->indexes()[0].state == IndexState::kReady, "the index is not ready");
    const double alone = writes_alone();
    const bool builds = ReportRatios(
        {"table-build-beside", "rows a second that a build reads beside a writer, against 20,000", 1, false},
        fmt::format("{:.0f} /s", rate), "20000 /s", {rate / 20'000});
    const auto rate_of = [](double writes) { return fmt::format("{:.0f} /s", writes); };
    ReportRatios({"table-build-index", "writes that keep the index, against those before there was one", 0, false},
                 rate_of(alone), rate_of(without_index), {alone / without_index});
    return ReportRatios({"table-build-writes", "writes beside a build, against the same when it is done", 0.5, false},
                        rate_of(beside), rate_of(alone), {beside / alone}) &&
           builds;
  }

  // Get, put and query at a hundred times the rows.
  bool Growth() {
    if (!arguments_.full || !arguments_.Wants("table-growth")) return true;
    bool met = true;
    const uint64_t small = 100'000;
    const uint64_t large = 10'000'000;
    const TablePtr small_table = Create("small", 1);
    const TablePtr large_table = Create("large", 1);
    Fill("small", small);
    Fill("large", large);
    WaitUntilIdle();
    const uint64_t operations = 50'000;
    const auto get = [&](const TablePtr& table, uint64_t rows) {
      // The part of the rows that the caches have, in both.
      return Measured(operations, [&, rows](uint64_t i) {
        const std::string id = KeyOf(rows - 1 - i % 10'000);
        const Item key(id);
        ReadRow read;
        Must(GetRow(*engine_, *table, {&key, 1}, {}, &read));
        Check(read.record.has_value(), "a row is missing");
      });
    };
    const auto put = [&](const char* table, uint64_t rows) {
      return Measured(operations, [&, table, rows](uint64_t i) { PutRowIn(table, RowOf(rows - 1 - i % 10'000, i)); });
    };
    const auto query = [&](const TablePtr& table) {
      return Measured(500, [&](uint64_t i) { Must(QueryRows(*engine_, *table, GroupOf(i % 20), {})); });
    };
    Comparison gets({"table-growth-get", "get of a row, 10 million against 100 thousand", 1.5});
    Comparison puts({"table-growth-put", "put of a row with an index, 10 million against 100 thousand", 1.5});
    Comparison queries({"table-growth-query", "query of 100 rows by index, 10 million against 100 thousand", 1.5});
    for (int round = -1; round < rounds_; ++round) {
      Sample a, b, c, d, e, f;
      TakeTurns(
          round + 1, [&] { a = get(large_table, large); }, [&] { b = get(small_table, small); },
          [&] { c = put("large", large); }, [&] { d = put("small", small); }, [&] { e = query(large_table); },
          [&] { f = query(small_table); });
      if (round < 0) continue;
      gets.Add(a, b);
      puts.Add(c, d);
      queries.Add(e, f);
    }
    for (const Comparison* compared : {&gets, &puts, &queries}) met = compared->Report() && met;
    return met;
  }

  const Arguments arguments_;
  const int rounds_;
  Scratch scratch_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::CountNothing();
  return kvarts::bench::Bench(kvarts::bench::Arguments::Parse(argc, argv)).Run() ? 0 : 1;
}
