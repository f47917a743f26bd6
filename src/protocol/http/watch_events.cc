#include "protocol/http/watch_events.h"

#include "core/user_keys.h"
#include "encoding/json_writer.h"
#include "protocol/http/items.h"

namespace kvarts::http {
namespace {

// The key, or what an erased range has in common with the one that is watched: the rest is not for this client.
void WriteKeys(JsonWriter& json, Mutation::Op op, BytesView key, BytesView end, const KeyRange& watched) {
  if (op != Mutation::Op::kEraseRange) {
    json.BytesField("key", UserKeyOf(key).value_or(BytesView()));
    return;
  }
  const KeyRange common = watched.Intersect({Bytes(key), Bytes(end)});
  json.BytesField("start", UserKeyOf(common.start).value_or(BytesView()));
  json.BytesField("end", UserKeyOf(common.end).value_or(BytesView()));
}

void WriteRecord(JsonWriter& json, const ValueHeader& header, BytesView value) {
  WriteValue(json, header, value);
  if (header.expiry != kNever) json.Field("expiry", header.expiry.ToString());
}

}  // namespace

size_t BytesOf(const std::vector<WatchEvent>& events) {
  size_t bytes = 0;
  for (const WatchEvent& event : events) bytes += event.data.size();
  return bytes;
}

std::string_view OpName(Mutation::Op op) {
  switch (op) {
    case Mutation::Op::kPut:
      return "put";
    case Mutation::Op::kErase:
      return "delete";
    case Mutation::Op::kEraseRange:
      return "delete_range";
    case Mutation::Op::kAdd:
      return "add";
  }
  return "put";
}

WatchEvent EventOf(const Mutation& mutation, FeedPosition place, const KeyRange& watched) {
  WatchEvent event{place, mutation.op, {}};
  JsonWriter json(&event.data);
  json.BeginObject().Field("op", OpName(mutation.op));
  WriteKeys(json, mutation.op, mutation.key, mutation.end, watched);
  if (mutation.op == Mutation::Op::kAdd) json.Field("by", mutation.delta);
  if (mutation.op == Mutation::Op::kPut) {
    const ValueHeader header{.version = place.version,
                             .expiry = mutation.expiry,
                             .kind = mutation.kind,
                             .schema = mutation.schema,
                             .marks = {}};
    WriteRecord(json, header, mutation.value);
  }
  json.Field("version", place.version.ToString()).EndObject();
  return event;
}

WatchEvent EventOf(const FeedEntry& entry, bool before, const KeyRange& watched) {
  WatchEvent event{entry.position, entry.op, {}};
  JsonWriter json(&event.data);
  json.BeginObject().Field("op", OpName(entry.op));
  WriteKeys(json, entry.op, entry.key, entry.end, watched);
  if (entry.after) WriteRecord(json, entry.after->header, entry.after->value);
  json.Field("version", entry.position.version.ToString());
  if (before && entry.before) {
    json.Name("before").BeginObject();
    WriteRecord(json, entry.before->header, entry.before->value);
    json.Field("version", entry.before->header.version.ToString()).EndObject();
  }
  if (!entry.context.actor.empty()) json.BytesField("actor", entry.context.actor);
  if (!entry.context.trace.empty()) json.BytesField("trace", entry.context.trace);
  json.EndObject();
  return event;
}

}  // namespace kvarts::http
