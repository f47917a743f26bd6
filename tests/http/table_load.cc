#include "http/table_load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace kvarts::test {
namespace {

constexpr uint64_t kRowsOfWriter = 12;
constexpr uint64_t kPairs = 3;
constexpr int kSeedRows = 1300;  // more than one chunk of a build
constexpr int kSeedBatch = 130;
// How far the clocks of a test and a server may be apart, and how long an answer may take to arrive.
constexpr double kMargin = 0.7;

constexpr const char* kUsersSpec = R"json({
  "key": {"partition": ["w"], "sort": ["id"]}, "ttl": {"field": "until"}, "indexes": [
    {"name": "mail", "partition": [{"path": "mail", "type": "text", "trim": true, "lower": true}], "unique": true},
    {"name": "tag", "partition": ["tags[*]"]},
    {"name": "city", "partition": ["city"], "sort": [{"path": "age", "type": "number", "order": "desc"}],
     "where": "missing(hidden)",
                     "include" : ["n"]
},
    {"name": "age", "local": true, "sort": [{"path": "age", "order": "desc"}]},
    {"name": "kind", "partition": ["kind"], "sparse": false, "include": "all"}]
})json";
constexpr const char* kOrdersSpec = R"({
  "key": {"partition": ["w"], "sort": ["id"]}, "indexes": [
    {"name": "city", "partition": [{"path": "city", "lower": true}], "include": "all"},
    {"name": "n", "local": true, "sort": ["n"], "unique": true}]})";

constexpr const char* kCities[] = {"Oslo", "Rome", "Wien", "Bonn"};
constexpr const char* kTags[] = {R"(["a"])", R"(["a","b"])", R"(["b","c","b"])", "[]"};

std::string TableName(const std::string& table) {
  return fmt::format(R"({{"project":"acme","dataset":"shop","table":"{}"}})", table.substr(table.rfind('/') + 1));
}

bool Made(const HttpAnswer& answer) { return answer.status == 200 || answer.status == 201; }

// Reads all pages of a table.
void ReadTable(HttpClient& client, const std::string& table, TableState* state) {
  std::string cursor;
  do {
    const HttpAnswer answer =
        client.Call("GET", table + "/rows?limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor));
    const JsonValue page = JsonValue::Parse(answer.body);
    for (const JsonValue& row : page["rows"].elements()) {
      state->rows[{table, row["key"]["w"].text(), row["key"]["id"].text()}] = row["value"];
    }
    cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
  } while (!cursor.empty());
}

// Whether a row, or that there is none, is what the state left, at some instant while it was read.
bool Fits(const JsonValue* row, const RowState& state, const RowName& name, const TableState& read) {
  const bool ends = state.number != 0 && state.until != 0;
  if (row == nullptr) return state.number == 0 || (ends && state.until < read.ended + kMargin);
  if (state.number == 0 || (ends && state.until < read.began - kMargin)) return false;
  JsonValue expected = JsonValue::Parse(FieldsOf(state));
  if (row->fields().size() != expected.fields().size() + 2 || (*row)["w"].text() != name.writer) return false;
  for (const auto& [field, value] : expected.fields()) {
    if ((*row)[field].raw() != value.raw()) return false;
  }
  return true;
}

}  // namespace

std::string FieldsOf(const RowState& state, bool patch) {
  const uint64_t n = state.number;
  std::string fields =
      fmt::format(R"({{"n":{},"age":{},"city":"{}","tags":{})", n, n % 60, kCities[n % 4], kTags[(n / 4) % 4]);
  const auto maybe = [&](bool there, const char* name, const std::string& value) {
    if (there || patch) fields += fmt::format(R"(,"{}":{})", name, there ? value : "null");
  };
  maybe(n % 2 == 0, "mail", fmt::format(R"("  {}{}@X ")", n % 4 == 0 ? "User" : "uSER", n % 90));
  maybe(n % 3 == 0, "hidden", "true");
  maybe(n % 5 != 0, "kind", fmt::format("\"k{}\"", n % 3));
  maybe(state.until != 0, "until", fmt::format("{:.3f}", state.until));
  return fields + "}";
}

double TableLoad::Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool TableLoad::Prepare(const std::string& address) {
  HttpClient client(address);
  for (const char* path : {"/projects/acme", "/projects/acme/datasets/shop"}) {
    if (!Made(client.Call("PUT", path))) return false;
  }
  if (!Made(client.Call("PUT", kUsers, {}, kUsersSpec)) || !Made(client.Call("PUT", kOrders, {}, kOrdersSpec))) {
    return false;
  }
  for (int i = 0; i < kSeedRows;) {
    std::string commands;
    for (const int end = i + kSeedBatch; i < end; ++i) {
      const RowState state{next_++};
      commands += fmt::format(R"({}{{"op":"put","table":{},"row":{{"w":"seed","id":"{}","n":{}}}}})",
                              commands.empty() ? "" : ",", TableName(kUsers), i, state.number);
    }
    if (!Made(client.Call("POST", "/rows/batch", {}, R"({"commands":[)" + commands + "]}"))) return false;
  }
  return true;
}

void TableLoad::Run(const std::vector<std::string>& addresses, const std::atomic<bool>& stop) {
  ++round_;
  std::vector<std::jthread> threads;
  for (int i = 0; i < writers_; ++i) {
    const std::string& address = addresses[static_cast<size_t>(i) % addresses.size()];
    threads.emplace_back([this, i, &address, &stop] { Write(i, address, stop); });
  }
}

void TableLoad::Write(int number, const std::string& address, const std::atomic<bool>& stop) {
  Writer writer{number, HttpClient(address),
                std::mt19937_64(seed_ * 1000 + round_ * 100 + static_cast<uint64_t>(number))};
  while (!stop && writer.client.connected()) {
    if (!(writer.random() % 4 == 0 ? WritePair(writer) : WriteOne(writer))) return;
  }
}

RowState TableLoad::NextState(Writer& writer, bool may_end) {
  RowState state{next_++};
  if (!may_end || writer.random() % 3 != 0) return state;
  // Many for a moment, some for longer than any test.
  const double life = writer.random() % 4 == 0 ? 3600 : 0.1 + static_cast<double>(writer.random() % 1000) / 1000;
  // With a last digit that is written back as it was.
  state.until = std::floor((Now() + life) * 100) / 100 + 0.005;
  if (state.until < Now() + 60) {
    const std::lock_guard lock(mutex_);
    last_end_ = std::max(last_end_.load(), state.until);
  }
  return state;
}

bool TableLoad::WriteOne(Writer& writer) {
  const RowName row{kUsers, fmt::format("w{}", writer.number), std::to_string(writer.random() % kRowsOfWriter)};
  const uint64_t what = writer.random() % 8;
  if (what == 0) return Send(writer, {row}, {}, RequestText("DELETE", row.Path()));
  const RowState state = NextState(writer, true);
  if (what < 5) return Send(writer, {row}, state, RequestText("PUT", row.Path(), {}, FieldsOf(state)));
  return Send(writer, {row}, state,
              RequestText("PATCH", row.Path() + (what == 5 ? "?make=true" : ""),
                          {{"Content-Type", "application/merge-patch+json"}}, FieldsOf(state, true)));
}

bool TableLoad::WritePair(Writer& writer) {
  const std::string id = fmt::format("pair{}", writer.random() % kPairs);
  const std::string w = fmt::format("w{}", writer.number);
  const RowState state = writer.random() % 6 == 0 ? RowState{} : NextState(writer, false);
  std::string commands;
  for (const char* table : {kUsers, kOrders}) {
    const std::string key = fmt::format(R"("w":"{}","id":"{}")", w, id);
    commands += (commands.empty() ? "" : ",") +
                (state.number == 0 ? fmt::format(R"({{"op":"delete","table":{},"key":{{{}}},"missing_ok":true}})",
                                                 TableName(table), key)
                                   : fmt::format(R"({{"op":"put","table":{},"row":{{{},{}}})", TableName(table), key,
                                                 FieldsOf(state).substr(1)));
  }
  return Send(writer, {{kUsers, w, id}, {kOrders, w, id}}, state,
              RequestText("POST", "/rows/batch", {}, R"({"commands":[)" + commands + "]}"));
}

bool TableLoad::Send(Writer& writer, const std::vector<RowName>& rows, RowState state, const std::string& request) {
  {
    const std::lock_guard lock(mutex_);
    for (const RowName& row : rows) promises_[row].sent = state;
  }
  if (!writer.client.Send(request)) return false;
  const int status = writer.client.Read().status;
  // A server that cannot tell what became of a write says 500.
  if (status == 0 || status == 500) return false;
  const bool done = status == 200 || status == 201;
  const std::lock_guard lock(mutex_);
  for (const RowName& row : rows) {
    Promise& promise = promises_[row];
    if (done) promise.acked = state;
    promise.sent.reset();
  }
  if (done) {
    ++acked_;
  } else if (status == 409) {
    ++refused_;
  } else if (status != 404 && status != 503) {
    ADD_FAILURE() << status << " in answer to " << request;
  }
  return true;
}

TableState TableLoad::ReadState(const std::string& address) {
  HttpClient client(address);
  TableState state;
  state.began = Now();
  for (const char* table : {kUsers, kOrders}) ReadTable(client, table, &state);
  state.ended = Now();
  return state;
}

std::vector<std::string> TableLoad::Verify(const TableState& state) {
  std::vector<std::string> wrong;
  for (auto& [name, promise] : promises_) {
    const auto found = state.rows.find(name);
    const JsonValue* const row = found == state.rows.end() ? nullptr : &found->second;
    const bool kept = Fits(row, promise.acked, name, state);
    const bool sent = promise.sent && Fits(row, *promise.sent, name, state);
    if (!kept && !sent) {
      wrong.push_back(fmt::format("{} was acknowledged as {} until {}, sent as {}, and is {}", name.Path(),
                                  promise.acked.number, promise.acked.until, promise.sent ? promise.sent->number : 0,
                                  row == nullptr ? "gone" : row->raw()));
    }
    if (!kept && sent) promise.acked = *promise.sent;
    promise.sent.reset();
  }
  size_t seeds = 0;
  for (const auto& [name, row] : state.rows) {
    if (name.writer == "seed") {
      ++seeds;
    } else if (!promises_.contains(name)) {
      wrong.push_back(name.Path() + " was never sent");
    }
    if (name.id.starts_with("pair")) {
      const auto other = state.rows.find({name.table == kUsers ? kOrders : kUsers, name.writer, name.id});
      if (other == state.rows.end() || other->second["n"].raw() != row["n"].raw()) {
        wrong.push_back(name.Path() + " is a part of a batch");
      }
    }
  }
  if (seeds != kSeedRows) wrong.push_back(fmt::format("{} rows of {} are there from before", seeds, kSeedRows));
  return wrong;
}

}  // namespace kvarts::test
