// The limits of the keyspace, by name, and the one place where a commit is held against them. Every engine checks on
// the submitter's thread, before anything is queued: what is refused here has changed nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "engine/commit.h"

namespace kvarts {

struct Limits {
  // A key as the user gives it. Physical keys may be longer by kKeyAllowance: prefix numbers, element codes.
  size_t max_key_bytes = 8 << 10;
  size_t max_value_bytes = 16 << 20;
  // Mutations and preconditions of one commit, counted together, and the bytes of their keys and values.
  size_t max_commit_operations = 20'000;
  size_t max_commit_bytes = 64 << 20;
  // One page of a scan. A page always has room for at least one entry, however large.
  size_t max_page_entries = 10'000;
  size_t max_page_bytes = 8 << 20;
  // Views open at the same time, and how long one may stay open.
  size_t max_views = 4096;
  Duration max_view_age = Duration::Seconds(60);
  // Commits waiting for their turn.
  size_t max_queued_commits = 100'000;
  size_t max_queued_bytes = 256 << 20;
  // What a transaction that is run again where nothing can change under it may read, and for how long.
  size_t max_second_run_keys = 20'000;
  Duration max_second_run_time = Duration::Millis(50);

  static constexpr size_t kKeyAllowance = 64;
};

// Keys plus values of a commit, as max_commit_bytes counts them.
size_t CommitBytes(const Commit& commit);

// `too_large` or `invalid_argument`, naming the limit and the value.
Status CheckCommit(const Commit& commit, const Limits& limits);

// A page size asked for by a scan: zero and what exceeds the limits is refused.
Status CheckPage(size_t max_entries, size_t max_bytes, const Limits& limits);

}  // namespace kvarts
