#include "cli/shell_steps.h"

#include <fmt/format.h>

#include "api/convert.h"
#include "api/transaction.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

using Answer = Session::Answer;
using Step = Session::Step;

constexpr Duration kMaxCursorAge = Duration::Seconds(24 * 60 * 60);
constexpr std::string_view kNothing = "(nothing)";
// How much of a value a list shows; get shows all of it.
constexpr size_t kListedBytes = 60;

std::string ExpiryText(Timestamp expiry, Timestamp now) {
  if (expiry == kNever) return "never expires";
  const Duration left{static_cast<int64_t>(expiry.micros - std::min(expiry.micros, now.micros))};
  return fmt::format("expires {}, in {}", HumanTime(expiry), HumanDuration(left));
}

std::string VersionText(Version version) {
  if (version == kNoVersion) return "not committed yet";
  return fmt::format("version {}, written {}", version.ToString(), HumanTime(version.time()));
}

// What a read was made from: whether there was something, and what.
std::string SeenValue(const std::optional<Record>& record) { return record ? "+" + record->value : "-"; }

Error Absent(std::string_view key) {
  return Error(ErrorCode::kNotFound, "there is nothing under the key", {{"key", ShownWord(key)}});
}

Error WrongVersion(std::string_view key, const std::optional<Record>& found) {
  std::string is = found ? found->header.version.ToString() : "absent";
  if (found && found->header.version == kNoVersion) is = "not committed yet";
  return Error(ErrorCode::kPreconditionFailed, "the value has another version",
               {{"key", ShownWord(key)}, {"version", std::move(is)}});
}

Result<std::optional<Record>> ReadKey(Txn& txn, std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn.limits()));
  return txn.Get(physical);
}

Status PutKey(Txn& txn, std::string_view key, std::string_view value, std::optional<Duration> ttl) {
  return UserTransaction(txn, kMaxCursorAge).Put(key, value, ttl);
}

}  // namespace

Step GetStep(std::string key) {
  return [key = std::move(key)](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const std::optional<Record> found, ReadKey(txn, key));
    if (!found) return Answer{std::string(kNothing), SeenValue(found)};
    std::string about = VersionText(found->header.version);
    if (found->header.kind == ValueKind::kCounter) about.append(", a counter");
    about.append(MarksText(found->header.marks));
    std::string text = Shown(ToValue(*found).value) + "\n" + Dim("  " + about);
    if (found->header.expiry != kNever) text.append("\n" + Dim("  " + ExpiryText(found->header.expiry, txn.Now())));
    return Answer{std::move(text), SeenValue(found)};
  };
}

Step PutStep(std::string key, std::string value, std::optional<Duration> ttl) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_CHECK_OK(PutKey(txn, key, value, ttl));
    return Answer{"stored", {}};
  };
}

Step CreateStep(std::string key, std::string value, std::optional<Duration> ttl) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const std::optional<Record> found, ReadKey(txn, key));
    if (found) {
      return Error(ErrorCode::kAlreadyExists, "there is a value under the key",
                   {{"key", ShownWord(key)}, {"version", found->header.version.ToString()}});
    }
    KVARTS_CHECK_OK(PutKey(txn, key, value, ttl));
    return Answer{"created", {}};
  };
}

Step ReplaceStep(std::string key, Version expected, std::string value, std::optional<Duration> ttl) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const std::optional<Record> found, ReadKey(txn, key));
    if (!found || found->header.version != expected) return WrongVersion(key, found);
    KVARTS_CHECK_OK(PutKey(txn, key, value, ttl));
    return Answer{"replaced", {}};
  };
}

Step DeleteStep(std::string key, std::optional<Version> expected) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const std::optional<Record> found, ReadKey(txn, key));
    if (expected && (!found || found->header.version != *expected)) return WrongVersion(key, found);
    if (!found) return Answer{"there was nothing", "-"};
    KVARTS_CHECK_OK(UserTransaction(txn, kMaxCursorAge).Delete(key));
    return Answer{"deleted", "+"};
  };
}

Step AddStep(std::string key, int64_t delta) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_CHECK_OK(UserTransaction(txn, kMaxCursorAge).Add(key, delta));
    return Answer{"added", {}};
  };
}

Step IncrementStep(std::string key, int64_t delta) {
  return [=](Txn& txn) -> Result<Answer> {
    UserTransaction user(txn, kMaxCursorAge);
    KVARTS_CHECK_OK(user.Add(key, delta));
    KVARTS_TRY(const int64_t number, user.GetCounter(key));
    return Answer{std::to_string(number), std::to_string(number)};
  };
}

Step CounterStep(std::string key) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const int64_t number, UserTransaction(txn, kMaxCursorAge).GetCounter(key));
    return Answer{std::to_string(number), std::to_string(number)};
  };
}

Step ShowExpiryStep(std::string key) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const std::optional<Record> found, ReadKey(txn, key));
    std::string text(kNothing);
    if (found) text = ExpiryText(found->header.expiry, txn.Now());
    return Answer{std::move(text), SeenValue(found)};
  };
}

Step SetExpiryStep(std::string key, std::optional<Duration> ttl) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn.limits()));
    KVARTS_TRY(const std::optional<Record> found, txn.Get(physical));
    if (!found) return Absent(key);
    PutOptions put;
    put.kind = found->header.kind;
    put.owned = found->header.owned;
    put.schema = found->header.schema;
    if (ttl) {
      KVARTS_TRY(put.expiry, ExpiryAfter(txn.Now(), *ttl));
    }
    txn.Put(physical, found->value, put);
    return Answer{ExpiryText(put.expiry, txn.Now()), SeenValue(found)};
  };
}

Step ScanStep(Range range, ScanOptions options, std::shared_ptr<std::optional<std::string>> cursor) {
  return [=](Txn& txn) -> Result<Answer> {
    KVARTS_TRY(Page page, UserTransaction(txn, kMaxCursorAge).Scan(range, options));
    using enum Table::Align;
    Table table({kLeft, kLeft, kLeft});
    Answer answer;
    for (const Entry& entry : page.entries) {
      AppendSized(&answer.seen, entry.key);
      AppendSized(&answer.seen, entry.value);
      const std::string value = options.keys_only ? "" : ShownShort(entry.value, kListedBytes);
      const std::string expiry = entry.expiry ? ExpiryText(*entry.expiry, txn.Now()) : "";
      table.Add({ShownWord(entry.key), value, expiry});
    }
    *cursor = std::move(page.cursor);
    std::string footer = Counted(page.entries.size(), "key", "keys");
    if (*cursor) footer.append("; more follow, `more` shows them");
    answer.text = table.ToString() + Dim(footer);
    return answer;
  };
}

Step CountStep(Range range, bool (*interrupted)()) {
  return [=](Txn& txn) -> Result<Answer> {
    UserTransaction user(txn, kMaxCursorAge);
    ScanOptions options;
    options.keys_only = true;
    options.limit = txn.limits().max_page_entries;
    uint64_t count = 0;
    do {
      KVARTS_TRY(const Page page, user.Scan(range, options));
      if (interrupted()) return Error(ErrorCode::kUnavailable, "interrupted");
      count += page.entries.size();
      options.cursor = page.cursor.value_or("");
    } while (!options.cursor.empty());
    return Answer{HumanCount(count), std::to_string(count)};
  };
}

}  // namespace kvarts::cli
