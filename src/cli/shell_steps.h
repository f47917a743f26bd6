// The commands of the shell that touch keys, as steps of a transaction, with their answers in words.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/shell_session.h"
#include "kvarts/database.h"

namespace kvarts::cli {

Session::Step GetStep(std::string key);
Session::Step PutStep(std::string key, std::string value, std::optional<Duration> ttl);
// Only if there is nothing under the key.
Session::Step CreateStep(std::string key, std::string value, std::optional<Duration> ttl);
// Only if the value has this version.
Session::Step ReplaceStep(std::string key, Version expected, std::string value, std::optional<Duration> ttl);
// With a version: only if the value has it.
Session::Step DeleteStep(std::string key, std::optional<Version> expected);

// Adds blindly, or says what came of it.
Session::Step AddStep(std::string key, int64_t delta);
Session::Step IncrementStep(std::string key, int64_t delta);
Session::Step CounterStep(std::string key);

Session::Step ShowExpiryStep(std::string key);
// Nothing: it never expires.
Session::Step SetExpiryStep(std::string key, std::optional<Duration> ttl);

// A page of a range. Leaves in `cursor` where the next one begins.
Session::Step ScanStep(Range range, ScanOptions options, std::shared_ptr<std::optional<std::string>> cursor);
// Stops with an error when `interrupted` says so.
Session::Step CountStep(Range range, bool (*interrupted)());

}  // namespace kvarts::cli
