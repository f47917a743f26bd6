// For tests of drift: a table with an index of every kind, damage done to it below the model, and what verifications
// and repairs say of it.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "core/job.h"
#include "model/table/drift.h"
#include "model/table/findings.h"
#include "model/table/index_repair.h"
#include "model/table/index_verify.h"
#include "model/table/row.h"
#include "support/tables.h"

namespace kvarts::test {

class DriftFixture : public TablesFixture {
 protected:
  static constexpr std::string_view kSpec = R"json({
    "key": {"partition": ["tenant"], "sort": ["id"]},
    "ttl": {"field": "ends"},
    "indexes": [
      {"name": "mail", "partition": [{"path": "mail", "type": "text", "lower": true}], "unique": true},
      {"name": "badge", "local": true, "sort": ["badge"], "unique": true, "include": ["name"]},
      {"name": "age", "local": true, "sort": [{"path": "age", "type": "number", "order": "desc"}]},
      {"name": "tag", "partition": ["tags[*]"]},
      {"name": "city", "partition": ["city"], "sort": ["age"], "include": ["name"], "where": "missing(hidden)"},
      {"name": "kind", "partition": ["kind"], "sparse": false, "include": "all"}]
  })json";
  static const std::vector<std::string>& IndexNames() {
    static const std::vector<std::string> kNames = {"mail", "badge", "age", "tag", "city", "kind"};
    return kNames;
  }

  void SetUp() override {
    TablesFixture::SetUp();
    MustCreate("users", kSpec);
  }

  // A row with an entry in every index, in two of "tag"; `more` are fields, with a comma before each.
  static std::string RowOf(const std::string& id, const std::string& more = "", const std::string& name = "n") {
    return R"({"tenant": "t", "id": ")" + id + R"(", "mail": "M)" + id + R"(@x", "badge": "b)" + id +
           R"(", "age": 30, "tags": ["a", "b"], "city": "Oslo", "kind": "k", "name": ")" + name + "\"" + more + "}";
  }
  static std::string KeyOf(const std::string& id) { return R"({"tenant": "t", "id": ")" + id + "\"}"; }
  static std::string Number(int i) { return std::to_string(10'000 + i); }
  // Rows from..to, as Number says, many in a commit.
  void PutRows(int from, int to) {
    while (from < to) {
      std::vector<RowCommand> commands;
      for (; from < to && commands.size() < 200; ++from) commands.push_back(Putting(RowOf(Number(from))));
      const auto put = Apply("users", commands);
      ASSERT_TRUE(put) << put.error();
    }
  }

  TablePtr Info() { return tables().Find(At("users")).value(); }
  TableIndex Index(const std::string& name) { return *Info()->IndexNamed(name); }
  // The first entry that a row would have in an index, whether or not it is in the table.
  IndexEntry EntryOf(const std::string& index, std::string_view row_json) {
    const Bytes row = Document(row_json);
    const KeyBuffer key = RowKey(*Info(), DocumentView(row)).value();
    return EntriesOf(*Info(), Index(index), key.view().substr(Info()->rows().size()), DocumentView(row)).value().at(0);
  }
  Bytes RowPart(const std::string& id) {
    const Bytes fields = Document(KeyOf(id));
    return Bytes(RowKeyOf(*Info(), DocumentView(fields)).value().view().substr(Info()->rows().size()));
  }

  // Below the model: nothing else is written with it.
  void RawPut(BytesView key, BytesView value, PutOptions options = {}) {
    MustRun([&](Txn& txn) -> Status {
      txn.Put(key, value, options);
      return {};
    });
  }
  void RawErase(BytesView key) {
    MustRun([&](Txn& txn) -> Status {
      txn.Erase(key);
      return {};
    });
  }
  void RawPutRow(std::string_view row_json, PutOptions options = {}) {
    const Bytes row = Document(row_json);
    options.kind = ValueKind::kEnvelope;
    RawPut(RowKey(*Info(), DocumentView(row)).value(), EncodeRow({}, 0, DocumentView(row)).value(), options);
  }

  // What is in the indexes of the table, to the byte.
  using Contents = std::map<Bytes, EntryState>;
  Contents AllEntries() {
    Contents all;
    for (const std::string& name : IndexNames()) {
      ScanRequest request;
      request.range = KeyRange::Prefix(Index(name).prefix);
      for (const Found& found : Entries(*NewView(), request)) {
        all[found.key] = EntryState::Of(Record{found.header, found.value});
      }
    }
    return all;
  }

  JobRecord Ended(const Result<JobId>& job) {
    EXPECT_TRUE(job) << job.error();
    if (!job.has_value()) return {};
    // A chunk that was in the way of writers rests, by the store's time.
    for (int attempt = 0; attempt < 20 && !HasEnded(Jobs(store()).Get(*job).value().state); ++attempt) {
      if (attempt != 0) Wait(Duration::Seconds(31));
      RunJobs();
    }
    JobRecord record = Jobs(store()).Get(*job).value();
    EXPECT_EQ(record.state, JobState::kDone) << (record.error ? record.error->text : "");
    return record;
  }
  JobRecord MustVerify() { return Ended(tables().StartVerify(At("users"))); }
  std::vector<Finding> FindingsOf(JobId job) {
    return store().Run([&](Txn& txn) { return ReadFindings(txn, Info()->stored().id, job); }).value();
  }
  // What a job has found, each as "kind index key", in order.
  std::vector<std::string> Named(JobId job) {
    std::vector<std::string> named;
    for (const Finding& finding : FindingsOf(job)) named.push_back(Name(finding.kind, finding.index, finding.key));
    std::ranges::sort(named);
    return named;
  }
  std::vector<std::string> MustFind() {
    const JobRecord job = MustVerify();
    const VerifyReport report = ReadVerifyReport(job).value();
    std::vector<std::string> named = Named(job.id);
    EXPECT_EQ(report.Found(), named.size());
    EXPECT_EQ(report.kept, named.size());
    return named;
  }
  static std::string Name(std::string_view kind, const std::string& index, BytesView key) {
    return std::string(kind) + ' ' + index + ' ' + Escaped(key);
  }

  // Damage of every kind to every index, and what should be found of it. There are rows 0 to 9 afterwards, and 4 has an
  // expiry.
  std::vector<std::string> DamageEverything() {
    PutRows(0, 10);
    MustPut("users", RowOf(Number(4), Ends()));
    std::vector<std::string> expected;
    const auto damaged = [&](std::string_view kind, const std::string& index, BytesView key) {
      expected.push_back(Name(kind, index, key));
    };
    for (const std::string& index : IndexNames()) {
      const bool covers = Index(index).spec.included.kind != Included::Kind::kKey;
      const auto of = [&](int i) { return EntryOf(index, RowOf(Number(i))); };
      RawErase(of(1).key);
      damaged("missing", index, of(1).key);
      RawPut(of(2).key, of(2).value, {.expiry = In(Duration::Seconds(1000))});
      damaged("wrong_expiry", index, of(2).key);
      const IndexEntry ending = EntryOf(index, RowOf(Number(4), Ends()));
      RawPut(ending.key, ending.value);
      damaged("wrong_expiry", index, ending.key);
      RawPut(of(3).key, "\xff garbage");
      damaged("damaged", index, of(3).key);
      // As if the row had another name.
      if (covers) {
        RawPut(of(5).key, EntryOf(index, RowOf(Number(5), "", "other")).value);
        damaged("wrong_value", index, of(5).key);
      }
      if (Index(index).spec.unique) {
        RawPut(of(6).key, of(7).value);
        damaged("wrong_value", index, of(6).key);
      }
      const IndexEntry of_nobody = EntryOf(index, RowOf("nobody"));
      RawPut(of_nobody.key, of_nobody.value);
      damaged("spurious", index, of_nobody.key);
      const IndexEntry of_another = EntryOf(index, Changed());
      RawPut(of_another.key, of_another.value);
      damaged("spurious", index, of_another.key);
      const Bytes no_key = Index(index).prefix + "\xfe\xfe";
      RawPut(no_key, "");
      damaged("damaged", index, no_key);
    }
    std::ranges::sort(expected);
    return expected;
  }
  std::string Ends() { return R"(, "ends": ")" + End().ToString() + "\""; }
  Timestamp End() {
    if (end_ == kNever) end_ = In(Duration::Seconds(500));
    return end_;
  }

 private:
  // Row 8, as it never was: no entry of it is one of the row's.
  static std::string Changed() {
    return R"({"tenant": "t", "id": ")" + Number(8) +
           R"(", "mail": "no", "badge": "no", "age": 31, "tags": ["c"], "city": "Rome", "kind": "no", "name": "n"})";
  }

  Timestamp end_ = kNever;
};

}  // namespace kvarts::test
