#include "engine/limits.h"

#include <algorithm>

#include "engine/sizes.h"

namespace kvarts {
namespace {

Status CheckKey(BytesView key, const Limits& limits) {
  if (key.empty()) return Error(ErrorCode::kInvalidArgument, "a key must not be empty");
  return CheckSizes(key, {}, limits);
}

Status CheckRange(BytesView start, BytesView end) {
  if (!end.empty() && start >= end) {
    return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  }
  return {};
}

Status CheckStamp(uint32_t stamp, BytesView bytes) {
  if (stamp == Mutation::kNoStamp) return {};
  if (bytes.size() < sizeof(uint64_t) || stamp > bytes.size() - sizeof(uint64_t)) {
    return Error(ErrorCode::kInvalidArgument, "a version stamp must lie within its key or value",
                 {{"offset", std::to_string(stamp)}, {"size", std::to_string(bytes.size())}});
  }
  return {};
}

Status CheckMutation(const Mutation& mutation, const Limits& limits) {
  if (mutation.op == Mutation::Op::kEraseRange) return CheckRange(mutation.key, mutation.end);
  KVARTS_CHECK_OK(CheckKey(mutation.key, limits));
  KVARTS_CHECK_OK(CheckStamp(mutation.key_stamp, mutation.key));
  if (mutation.op != Mutation::Op::kPut) return {};
  KVARTS_CHECK_OK(CheckStamp(mutation.value_stamp, mutation.value));
  KVARTS_CHECK_OK(CheckSizes(mutation.key, mutation.value, limits));
  if (mutation.expiry != kNever && mutation.expiry > kLastTimestamp) {
    return Error(ErrorCode::kInvalidArgument, "an expiry must lie before the year 2255",
                 {{"expiry_us", std::to_string(mutation.expiry.micros)}});
  }
  if (mutation.kind == ValueKind::kCounter && mutation.value.size() != sizeof(int64_t)) {
    return Error(ErrorCode::kInvalidArgument, "a counter's value must have eight bytes",
                 {{"size", std::to_string(mutation.value.size())}});
  }
  return {};
}

}  // namespace

size_t CommitBytes(const Commit& commit) {
  size_t bytes = 0;
  for (const Precondition& p : commit.preconditions) bytes += p.key.size() + p.end.size();
  for (const Mutation& m : commit.mutations) bytes += m.key.size() + m.end.size() + m.value.size();
  return bytes;
}

Status CheckCommit(const Commit& commit, const Limits& limits) {
  const auto implied = std::ranges::count(commit.preconditions, true, &Precondition::implied);
  const size_t operations = commit.preconditions.size() - static_cast<size_t>(implied) + commit.mutations.size();
  if (operations > limits.max_commit_operations) {
    return LimitExceeded("the commit has too many operations", "max_commit_operations", limits.max_commit_operations,
                         operations);
  }
  const size_t bytes = CommitBytes(commit);
  if (bytes > limits.max_commit_bytes) {
    return LimitExceeded("the commit is too large", "max_commit_bytes", limits.max_commit_bytes, bytes);
  }
  for (const Precondition& p : commit.preconditions) {
    if (p.kind == Precondition::Kind::kRangeUnchanged) {
      KVARTS_CHECK_OK(CheckRange(p.key, p.end));
    } else {
      KVARTS_CHECK_OK(CheckKey(p.key, limits));
    }
  }
  for (const Mutation& m : commit.mutations) KVARTS_CHECK_OK(CheckMutation(m, limits));
  return {};
}

Status CheckPage(size_t max_entries, size_t max_bytes, const Limits& limits) {
  if (max_entries == 0 || max_bytes == 0) {
    return Error(ErrorCode::kInvalidArgument, "a page must have room for an entry");
  }
  if (max_entries > limits.max_page_entries) {
    return LimitExceeded("the page has too many entries", "max_page_entries", limits.max_page_entries, max_entries);
  }
  if (max_bytes > limits.max_page_bytes) {
    return LimitExceeded("the page is too large", "max_page_bytes", limits.max_page_bytes, max_bytes);
  }
  return {};
}

}  // namespace kvarts
