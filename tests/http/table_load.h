// What the crash test of tables writes, what it was promised, and what must therefore be there after a crash.
//
// Each writer has rows of its own, in two tables whose indexes are of every kind. What a row holds follows from one
// growing number, which stands in it, so that what is there says which write it is of: the last one that was
// acknowledged, or the one that was under way when nobody answered any more. Values of the unique index are few and
// shared by all writers, so that many writes are refused, and change nothing.
//
//   users    (w; id)   puts, patches and deletes; some rows live for a moment only
//   users, orders      rows `pair` of both are written by one batch: they are of the same write
//   users    (seed; i) rows that are never written again, for builds of indexes to go over
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/json_value.h"

namespace kvarts::test {

inline constexpr const char* kUsers = "/projects/acme/datasets/shop/tables/users";
inline constexpr const char* kOrders = "/projects/acme/datasets/shop/tables/orders";

// Which row: of a table, a writer and a number or name.
struct RowName {
  std::string table;
  std::string writer;
  std::string id;

  std::string Path() const { return table + "/rows/" + writer + "/" + id; }
  friend auto operator<=>(const RowName&, const RowName&) = default;
};

// What a write leaves of a row.
struct RowState {
  uint64_t number = 0;  // zero: there is none
  double until = 0;     // when it is gone, in seconds since 1970; zero: never
};

// All rows of the tables at a time between two, as documents.
struct TableState {
  std::map<RowName, JsonValue> rows;
  double began = 0;
  double ended = 0;
};

class TableLoad {
 public:
  TableLoad(int writers, uint64_t seed) : writers_(writers), seed_(seed) {}

  // Declares the tables, and puts what builds of indexes go over. False: it could not.
  bool Prepare(const std::string& address);
  // Writes until nobody answers, or `stop` is set; the writers share the servers.
  void Run(const std::vector<std::string>& addresses, const std::atomic<bool>& stop);
  uint64_t acked() const { return acked_; }
  // Writes of which another row had the value.
  uint64_t refused() const { return refused_; }
  // When the last row that does not stay is gone.
  double LastEnd() const { return last_end_; }

  static TableState ReadState(const std::string& address);
  // What is wrong with it: nothing, if every promise was kept. Takes it as given for the next round.
  std::vector<std::string> Verify(const TableState& state);

  static double Now();

 private:
  struct Promise {
    RowState acked;
    std::optional<RowState> sent;  // of which nobody knows what became
  };
  struct Writer {
    int number;
    HttpClient client;
    std::mt19937_64 random;
  };
  enum class Answer { kDone, kRefused, kNone };

  void Write(int writer, const std::string& address, const std::atomic<bool>& stop);
  // Does one thing; false when nobody answered.
  bool WriteOne(Writer& writer);
  bool WritePair(Writer& writer);
  // Notes what is sent and what is answered, for all of these rows at once.
  bool Send(Writer& writer, const std::vector<RowName>& rows, RowState state, const std::string& request);
  RowState NextState(Writer& writer, bool may_end);

  const int writers_;
  const uint64_t seed_;
  uint64_t round_ = 0;
  std::atomic<uint64_t> acked_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> next_ = 1;
  std::atomic<double> last_end_ = 0;
  std::mutex mutex_;
  std::map<RowName, Promise> promises_;
};

// The fields of a row of this state besides its key, as JSON; with `patch`, null for those that it has not.
std::string FieldsOf(const RowState& state, bool patch = false);

}  // namespace kvarts::test
