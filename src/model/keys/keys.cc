#include "model/keys/keys.h"

#include <charconv>

#include "core/user_keys.h"

namespace kvarts::keys {
namespace {

using Kind = Condition::Kind;

std::string VersionText(const std::optional<Record>& found) {
  return found ? found->header.version.ToString() : "absent";
}

Error ConditionFailed(BytesView key, const std::optional<Record>& found) {
  return Error(ErrorCode::kPreconditionFailed, "the condition does not hold",
               {{"key", Escaped(key)}, {"version", VersionText(found)}});
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
        KVARTS_TRY(const std::optional<Record> found, txn.Get(physical));
        return condition.HoldsFor(found) ? Status() : ConditionFailed(key, found);
      }
      precondition.kind = Precondition::Kind::kVersionIs;
      precondition.version = condition.versions.front();
      break;
  }
  txn.Require(std::move(precondition));
  return {};
}

// Reads a key that the command is about to change, and holds it against the condition.
Result<std::optional<Record>> Read(Txn& txn, BytesView physical, BytesView key, const Condition& condition) {
  KVARTS_TRY(std::optional<Record> found, txn.Get(physical));
  if (!condition.HoldsFor(found)) return ConditionFailed(key, found);
  return found;
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

// Writes a value, and says what it wrote.
Status Write(Txn& txn, BytesView physical, ValueKind kind, Bytes value, Timestamp expiry, uint32_t schema,
             Outcome* outcome) {
  txn.Put(physical, value, {.expiry = expiry, .kind = kind, .schema = schema});
  if (outcome == nullptr) return {};
  outcome->header = {.version = {}, .expiry = expiry, .kind = kind, .schema = schema, .marks = {}};
  outcome->value = std::move(value);
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

bool Condition::HoldsFor(const std::optional<Record>& found) const {
  switch (kind) {
    case Kind::kNone:
      return true;
    case Kind::kAbsent:
      return !found;
    case Kind::kPresent:
      return found.has_value();
    case Kind::kVersionIn:
      return found && std::ranges::find(versions, found->header.version) != versions.end();
  }
  return false;
}

Status ApplyPut(Txn& txn, const Put& put, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(put.key, txn.limits()));
  std::optional<Record> before;
  if (put.lifetime.kind == Lifetime::Kind::kKeep) {
    KVARTS_TRY(before, Read(txn, physical, put.key, put.condition));
  } else {
    KVARTS_CHECK_OK(RequireBlindly(txn, physical, put.key, put.condition));
  }
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(txn, put.lifetime, before));
  if (!put.value.envelope) return Write(txn, physical, put.value.kind, put.value.bytes, expiry, 0, outcome);
  Envelope envelope = *put.value.envelope;
  envelope.payload = put.value.bytes;
  KVARTS_TRY(Bytes encoded, envelope.Encode());
  return Write(txn, physical, ValueKind::kEnvelope, std::move(encoded), expiry, envelope.schema, outcome);
}

Status ApplyDelete(Txn& txn, const Delete& command) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(command.key, txn.limits()));
  if (command.missing_ok && command.condition.kind == Kind::kNone) {
    txn.Erase(physical);
    return {};
  }
  KVARTS_TRY(const std::optional<Record> found, Read(txn, physical, command.key, command.condition));
  if (!found) return command.missing_ok ? Status() : NotFound(command.key);
  txn.Erase(physical);
  return {};
}

Status ApplyTouch(Txn& txn, const Touch& touch, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(touch.key, txn.limits()));
  KVARTS_TRY(std::optional<Record> found, Read(txn, physical, touch.key, touch.condition));
  if (!found) return NotFound(touch.key);
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(txn, touch.lifetime, found));
  return Write(txn, physical, found->header.kind, std::move(found->value), expiry, found->header.schema, outcome);
}

Status ApplyIncrement(Txn& txn, const Increment& increment, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(increment.key, txn.limits()));
  KVARTS_TRY(const std::optional<Record> found, Read(txn, physical, increment.key, increment.condition));
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
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(txn, increment.lifetime, found));
  const ValueKind kind = found ? found->header.kind : ValueKind::kCounter;
  Bytes value = kind == ValueKind::kCounter ? CounterValue(number) : std::to_string(number);
  return Write(txn, physical, kind, std::move(value), expiry, found ? found->header.schema : 0, outcome);
}

Status ApplyAppend(Txn& txn, const Append& append, Outcome* outcome) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(append.key, txn.limits()));
  KVARTS_TRY(std::optional<Record> found, Read(txn, physical, append.key, append.condition));
  const ValueKind kind = found ? found->header.kind : ValueKind::kBytes;
  if (kind != ValueKind::kBytes && kind != ValueKind::kTyped) {
    return Error(ErrorCode::kInvalidArgument, "only bytes can be appended to", {{"key", Escaped(append.key)}});
  }
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(txn, append.lifetime, found));
  Bytes value = found ? std::move(found->value) : Bytes();
  value.append(append.bytes);
  return Write(txn, physical, kind, std::move(value), expiry, 0, outcome);
}

Status ApplyAdd(Txn& txn, const Add& add) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(add.key, txn.limits()));
  txn.Add(physical, add.by);
  return {};
}

Status ApplyDeleteRange(Txn& txn, const DeleteRange& command) {
  KVARTS_TRY(const KeyRange physical, CheckedUserRange(command.range, txn.limits()));
  txn.EraseRange(physical);
  return {};
}

Status Apply(Txn& txn, const Command& command, Outcome* outcome) {
  struct Visitor {
    Txn& txn;
    Outcome* outcome;
    Status operator()(const Put& put) const { return ApplyPut(txn, put, outcome); }
    Status operator()(const Delete& erase) const { return ApplyDelete(txn, erase); }
    Status operator()(const Touch& touch) const { return ApplyTouch(txn, touch, outcome); }
    Status operator()(const Increment& increment) const { return ApplyIncrement(txn, increment, outcome); }
    Status operator()(const Append& append) const { return ApplyAppend(txn, append, outcome); }
    Status operator()(const Add& add) const { return ApplyAdd(txn, add); }
    Status operator()(const DeleteRange& erase) const { return ApplyDeleteRange(txn, erase); }
  };
  return std::visit(Visitor{txn, outcome}, command);
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
