#include "http/crash_load.h"

#include <fmt/format.h>

#include <thread>

#include "support/http_client.h"
#include "support/json_value.h"

namespace kvarts::test {
namespace {

constexpr uint64_t kPutKeys = 20;
constexpr uint64_t kPipelined = 4;

std::string Prefix(int writer) { return fmt::format("crash/{:02}/", writer); }

}  // namespace

void CrashLoad::Sent(const std::string& key, uint64_t number) {
  const std::lock_guard lock(mutex_);
  promises_[key].sent = number;
}

void CrashLoad::Acked(const std::string& key, uint64_t number) {
  const std::lock_guard lock(mutex_);
  promises_[key].acked = number;
  ++acked_;
}

void CrashLoad::Run(const std::string& address, const std::atomic<bool>& stop) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < writers_; ++i) threads.emplace_back([this, i, &address, &stop] { Write(i, address, stop); });
}

void CrashLoad::Write(int writer, const std::string& address, const std::atomic<bool>& stop) {
  HttpClient client(address);
  const std::string prefix = Prefix(writer);
  uint64_t& number = next_[static_cast<size_t>(writer)];
  while (!stop && client.connected()) {
    // Several at once, each to its own key.
    std::string text;
    std::vector<std::pair<std::string, uint64_t>> batch;
    for (uint64_t i = 0; i < kPipelined; ++i, ++number) {
      batch.emplace_back(fmt::format("{}put/{}", prefix, number % kPutKeys), number);
      text += RequestText("PUT", "/keys/" + batch.back().first, {}, std::to_string(number));
    }
    const uint64_t pair = number++;
    batch.emplace_back(prefix + "pair/a", pair);
    Sent(prefix + "pair/b", pair);
    text += RequestText("POST", "/commit", {},
                        fmt::format(R"({{"mutations":[{{"op":"put","key":"{0}pair/a","value":"{1}"}},)"
                                    R"({{"op":"put","key":"{0}pair/b","value":"{1}"}}]}})",
                                    prefix, pair));
    batch.emplace_back(fmt::format("{}list/{}", prefix, number), number);
    text += RequestText("PUT", "/keys/" + batch.back().first, {{"If-None-Match", "*"}}, std::to_string(number));
    ++number;
    const std::string sum = prefix + "sum";
    uint64_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = promises_[sum].sent;
    }
    batch.emplace_back(sum, before + 1);
    text += RequestText("PATCH", "/keys/" + sum, {}, R"({"increment":1})");
    for (const auto& [key, sent] : batch) Sent(key, sent);
    if (!client.Send(text)) return;
    for (const auto& [key, sent] : batch) {
      const int status = client.Read().status;
      if (status != 200 && status != 201) return;
      Acked(key, sent);
    }
  }
}

std::map<std::string, uint64_t> CrashLoad::ReadState(const std::string& address) {
  HttpClient client(address);
  std::map<std::string, uint64_t> state;
  std::string cursor;
  do {
    const HttpAnswer answer =
        client.Call("GET", "/keys?prefix=crash/&limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor));
    const JsonValue page = JsonValue::Parse(answer.body);
    for (const JsonValue& item : page["items"].elements()) {
      state[item["key"].text()] = static_cast<uint64_t>(item["value"].number());
    }
    cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
  } while (!cursor.empty());
  return state;
}

std::vector<std::string> CrashLoad::Verify(const std::map<std::string, uint64_t>& state) {
  std::vector<std::string> wrong;
  for (auto& [key, promise] : promises_) {
    const auto found = state.find(key);
    const uint64_t is = found == state.end() ? 0 : found->second;
    if (is < promise.acked) wrong.push_back(fmt::format("{} was acknowledged as {} and is {}", key, promise.acked, is));
    if (is > promise.sent) wrong.push_back(fmt::format("{} is {}, which was never sent", key, is));
    promise = {is, is};
  }
  for (const auto& [key, is] : state) {
    if (key.ends_with("pair/a")) {
      const auto other = state.find(key.substr(0, key.size() - 1) + "b");
      if (other == state.end() || other->second != is) wrong.push_back(fmt::format("{} is a part of a commit", key));
    } else if (!key.ends_with("pair/b") && !promises_.contains(key)) {
      wrong.push_back(fmt::format("{} was never sent", key));
    }
  }
  return wrong;
}

void CrashLoad::Restore(const std::map<std::string, uint64_t>& state) {
  promises_.clear();
  for (const auto& [key, is] : state) promises_[key] = {is, is};
}

}  // namespace kvarts::test
