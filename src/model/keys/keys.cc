#include "model/keys/keys.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/user_keys.h"

namespace kvarts::keys {
namespace {

using Kind = Condition::Kind;

// Holds what was under a key before the transaction against a condition, and returns it. The transaction's own writes
// do not count: what a condition means does not depend on where in a commit it stands.
Result<std::optional<Record>> Judge(Txn& txn, BytesView physical, BytesView key, const Condition& condition) {
  std::optional<Record> before;
  KVARTS_CHECK_OK(txn.GetBeneath({&physical, 1}, {&before, 1}));
  if (!condition.HoldsFor(before)) return ConditionFailed(key, before);
  return before;
}

// A condition on a key that the command need not read: the engine checks it when the commit is decided.
Status RequireBlindly(Txn& txn, BytesView physical, BytesView key, const Condition& condition) {
  Precondition precondition;
  precondition.key = physical;
  switch (condition.kind) {
    case Kind::kNone:
      return {};
    case Kind::kAbsent:
      precondition.kind = Precondition::Kind::kAbsent;
      break;
    case Kind::kPresent:
      precondition.kind = Precondition::Kind::kPresent;
      break;
    case Kind::kVersionIn:
      if (condition.versions.size() != 1) {
        KVARTS_CHECK_OK(Judge(txn, physical, key, condition));
        return {};
      }
      precondition.kind = Precondition::Kind::kVersionIs;
      precondition.version = condition.versions.front();
      break;
  }
  txn.Require(std::move(precondition));
  return {};
}

// Reads a key that the command is about to change, with what the transaction wrote so far, once the condition holds.
Result<std::optional<Record>> Read(Txn& txn, BytesView physical, BytesView key, const Condition& condition) {
  if (condition.kind == Kind::kNone) return txn.Get(physical);
  KVARTS_TRY(std::optional<Record> before, Judge(txn, physical, key, condition));
  if (txn.mutations().empty()) return before;
  return txn.Get(physical);
}

Result<Timestamp> ExpiryOf(Txn& txn, const Lifetime& lifetime, const std::optional<Record>& before) {
  switch (lifetime.kind) {
    case Lifetime::Kind::kFor:
      return ExpiryAfter(txn.Now(), lifetime.duration);
    case Lifetime::Kind::kKeep:
      return before ? before->header.expiry : kNever;
    case Lifetime::Kind::kDefault:
    case Lifetime::Kind::kForever:
      break;
  }
  return kNever;
}

struct NewRecord {
  ValueKind kind;
  Bytes value;
  Timestamp expiry;
  uint32_t schema = 0;
  bool for_ever = false;  // on purpose: a namespace's default is not for it
};

// Whether a value without an expiry was asked for, or was there.
bool ForEver(const Lifetime& lifetime, const std::optional<Record>& before) {
  if (lifetime.kind == Lifetime::Kind::kForever) return true;
  return lifetime.kind == Lifetime::Kind::kKeep && before && before->header.expiry == kNever;
}

// Writes a value if its namespace allows it, and says what it wrote.
Status Write(Writer writer, BytesView key, BytesView physical, NewRecord record, Outcome* outcome) {
  PutOptions options{.expiry = record.expiry, .kind = record.kind, .schema = record.schema};
  KVARTS_CHECK_OK(writer.guard.CheckPut(key, record.value, &options));
  if (record.for_ever) options.expiry = kNever;
  writer.txn.Put(physical, record.value, options);
  if (outcome == nullptr) return {};
  outcome->header = {
      .version = {}, .expiry = options.expiry, .kind = options.kind, .schema = options.schema, .marks = {}};
  outcome->value = std::move(record.value);
  return {};
}

Error NotFound(BytesView key) {
  return Error(ErrorCode::kNotFound, "there is nothing under the key", {{"key", Escaped(key)}});
}

Error NoInteger(BytesView key) {
  return Error(ErrorCode::kInvalidArgument, "the value under the key is not an integer", {{"key", Escaped(key)}});
}

// The number that a value is: of a counter, or in canonical decimal digits.
Result<int64_t> NumberIn(BytesView key, const Record& record) {
  if (record.header.kind == ValueKind::kCounter) return CounterNumber(record.header, record.value);
  if (record.header.kind != ValueKind::kBytes && record.header.kind != ValueKind::kJson) return NoInteger(key);
  int64_t number = 0;
  const char* end = record.value.data() + record.value.size();
  const auto [at, failed] = std::from_chars(record.value.data(), end, number);
  if (failed != std::errc() || at != end || std::to_string(number) != record.value) return NoInteger(key);
  return number;
}

}  // namespace

Error ConditionFailed(BytesView key, const std::optional<Record>& found) {
  return Error(ErrorCode::kPreconditionFailed, "the condition does not hold",
               {{"key", Escaped(key)}, {"version", VersionText(found)}});
}

BytesView KeyOf(const Command& command) {
  return std::visit(
      [](const auto& one) -> BytesView {
        if constexpr (requires { one.key; }) {
          return one.key;
        } else {
          return {};
        }
      },
      command);
}

Status ApplyPut(Writer writer, const Put& put, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(put.key, writer.txn.limits()));
  std::optional<Record> before;
  if (put.lifetime.kind == Lifetime::Kind::kKeep) {
    KVARTS_TRY(before, Read(writer.txn, physical, put.key, put.condition));
  } else {
    KVARTS_CHECK_OK(RequireBlindly(writer.txn, physical, put.key, put.condition));
  }
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(writer.txn, put.lifetime, before));
  if (!put.value.envelope) {
    return Write(writer, put.key, physical, {put.value.kind, put.value.bytes, expiry, 0, ForEver(put.lifetime, before)},
                 outcome);
  }
  Envelope envelope = *put.value.envelope;
  envelope.payload = put.value.bytes;
  KVARTS_TRY(Bytes encoded, envelope.Encode());
  return Write(writer, put.key, physical,
               {ValueKind::kEnvelope, std::move(encoded), expiry, envelope.schema, ForEver(put.lifetime, before)},
               outcome);
}

Status ApplyDelete(Writer writer, const Delete& command) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(command.key, writer.txn.limits()));
  KVARTS_CHECK_OK(writer.guard.CheckErase(command.key));
  if (command.missing_ok && command.condition.kind == Kind::kNone) {
    writer.txn.Erase(physical);
    return {};
  }
  KVARTS_TRY(const std::optional<Record> found, Read(writer.txn, physical, command.key, command.condition));
  if (!found) return command.missing_ok ? Status() : NotFound(command.key);
  writer.txn.Erase(physical);
  return {};
}

Status ApplyTouch(Writer writer, const Touch& touch, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(touch.key, writer.txn.limits()));
  KVARTS_TRY(std::optional<Record> found, Read(writer.txn, physical, touch.key, touch.condition));
  if (!found) return NotFound(touch.key);
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(writer.txn, touch.lifetime, found));
  const bool for_ever = ForEver(touch.lifetime, found);
  return Write(writer, touch.key, physical,
               {found->header.kind, std::move(found->value), expiry, found->header.schema, for_ever}, outcome);
}

Status ApplyIncrement(Writer writer, const Increment& increment, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(increment.key, writer.txn.limits()));
  KVARTS_TRY(const std::optional<Record> found, Read(writer.txn, physical, increment.key, increment.condition));
  int64_t number = 0;
  if (found) {
    KVARTS_TRY(number, NumberIn(increment.key, *found));
  }
  bool saturated = found && found->header.marks.saturated;
  number = SaturatingAdd(number, increment.by, &saturated);
  if (saturated) {
    return Error(ErrorCode::kTooLarge, "the number would leave the range of 64 bits",
                 {{"key", Escaped(increment.key)}, {"limit", "64 bits"}});
  }
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(writer.txn, increment.lifetime, found));
  const ValueKind kind = found ? found->header.kind : ValueKind::kCounter;
  Bytes value = kind == ValueKind::kCounter ? CounterValue(number) : std::to_string(number);
  return Write(writer, increment.key, physical, {kind, std::move(value), expiry, 0, ForEver(increment.lifetime, found)},
               outcome);
}

Status ApplyAppend(Writer writer, const Append& append, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(append.key, writer.txn.limits()));
  KVARTS_TRY(std::optional<Record> found, Read(writer.txn, physical, append.key, append.condition));
  const ValueKind kind = found ? found->header.kind : ValueKind::kBytes;
  if (kind != ValueKind::kBytes && kind != ValueKind::kTyped) {
    return Error(ErrorCode::kInvalidArgument, "only bytes can be appended to", {{"key", Escaped(append.key)}});
  }
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(writer.txn, append.lifetime, found));
  const bool for_ever = ForEver(append.lifetime, found);
  Bytes value = found ? std::move(found->value) : Bytes();
  value.append(append.bytes);
  return Write(writer, append.key, physical, {kind, std::move(value), expiry, 0, for_ever}, outcome);
}

Status ApplyAdd(Writer writer, const Add& add) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(add.key, writer.txn.limits()));
  KVARTS_CHECK_OK(writer.guard.CheckAdd(add.key));
  writer.txn.Add(physical, add.by);
  return {};
}

Status ApplyDeleteRange(Writer writer, const DeleteRange& command) {
  KVARTS_TRY(const KeyRange physical, CheckedUserRange(command.range, writer.txn.limits()));
  writer.txn.EraseRange(physical);
  return {};
}

Status CheckAdds(std::span<const Command> commands) {
  const auto is_add = [](const Command& command) { return std::holds_alternative<Add>(command); };
  if (std::ranges::none_of(commands, is_add)) return {};
  // Keys that hold something else than a counter at this point of the commit.
  std::set<BytesView> others;
  for (const Command& command : commands) {
    const BytesView key = KeyOf(command);
    if (const auto* put = std::get_if<Put>(&command)) {
      if (put->value.kind == ValueKind::kCounter) {
        others.erase(key);
      } else {
        others.insert(key);
      }
    } else if (std::holds_alternative<Append>(command)) {
      others.insert(key);
    } else if (std::holds_alternative<Delete>(command)) {
      others.erase(key);
    } else if (const auto* erased = std::get_if<DeleteRange>(&command)) {
      const KeyRange& range = erased->range;
      others.erase(others.lower_bound(range.start), range.HasEnd() ? others.lower_bound(range.end) : others.end());
    } else if (is_add(command) && others.contains(key)) {
      return Error(ErrorCode::kInvalidArgument, "the commit adds to a key that it makes no counter",
                   {{"key", Escaped(key)}, {"advice", "put it as a counter, or increment it"}});
    }
  }
  return {};
}

Status Apply(Writer writer, const Command& command, Outcome* outcome) {
  struct Visitor {
    Writer writer;
    Outcome* outcome;
    Status operator()(const Put& put) const { return ApplyPut(writer, put, outcome); }
    Status operator()(const Delete& erase) const { return ApplyDelete(writer, erase); }
    Status operator()(const Touch& touch) const { return ApplyTouch(writer, touch, outcome); }
    Status operator()(const Increment& increment) const { return ApplyIncrement(writer, increment, outcome); }
    Status operator()(const Append& append) const { return ApplyAppend(writer, append, outcome); }
    Status operator()(const Add& add) const { return ApplyAdd(writer, add); }
    Status operator()(const DeleteRange& erase) const { return ApplyDeleteRange(writer, erase); }
  };
  return std::visit(Visitor{writer, outcome}, command);
}

Status Require(Txn& txn, const Requirement& requirement) {
  if (requirement.range) {
    KVARTS_TRY(const KeyRange physical, CheckedUserRange(*requirement.range, txn.limits()));
    Precondition precondition;
    precondition.kind = Precondition::Kind::kRangeUnchanged;
    precondition.key = physical.start;
    precondition.end = physical.end;
    precondition.version = requirement.unchanged_since;
    txn.Require(std::move(precondition));
    return {};
  }
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(requirement.key, txn.limits()));
  return RequireBlindly(txn, physical, requirement.key, requirement.condition);
}

}  // namespace kvarts::keys
