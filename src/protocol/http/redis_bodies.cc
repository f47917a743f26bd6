#include "protocol/http/redis_bodies.h"

#include <limits>

#include "encoding/json_writer.h"

namespace kvarts::http {
namespace {

// A word of a command: a text, a number as it stands there, or {"base64": …}.
Bytes ReadWord(JsonReader& json) {
  if (json.Peek() == JsonKind::kNumber) return Bytes(json.Number());
  if (json.Peek() != JsonKind::kObject) return Bytes(json.Text());
  Bytes word;
  json.Object([&](std::string_view name) {
    if (name == "base64") {
      word = json.Base64();
    } else {
      json.Unknown(name);
    }
  });
  return word;
}

}  // namespace

bool ReadRedisField(JsonReader& json, std::string_view name, RedisFields* fields) {
  if (name == "database") {
    fields->database = json.Uint(std::numeric_limits<uint32_t>::max());
  } else if (name == "command") {
    fields->words.emplace();
    json.Array([&] { fields->words->push_back(ReadWord(json)); });
  } else if (name == "expect") {
    // An answer is written by us in one way, so a text, a number or null is compared as it is written.
    fields->expected.emplace();
    JsonWriter written(&*fields->expected);
    if (json.TakeNull()) {
      written.Null();
    } else if (json.Peek() == JsonKind::kNumber) {
      written.Number(json.Int());
    } else {
      written.Text(json.Text());
    }
  } else {
    return false;
  }
  return true;
}

void TakeRedis(JsonReader& json, RedisFields fields, CommitBody* commit) {
  json.Require(fields.words && !fields.words->empty(), "a command is missing");
  commit->redis.push_back(
      {static_cast<uint32_t>(fields.database.value_or(0)), std::move(fields.words).value_or(std::vector<Bytes>())});
  commit->expected.push_back(std::move(fields.expected));
  commit->order.push_back(CommitBody::Of::kRedis);
}

}  // namespace kvarts::http
