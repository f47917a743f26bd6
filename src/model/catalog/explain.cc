#include "model/catalog/explain.h"

#include <algorithm>

#include <fmt/format.h>

namespace kvarts {
namespace {

std::string InSeconds(Duration duration) {
  const int64_t seconds = duration.micros / 1'000'000;
  return duration.micros % 1'000'000 == 0 ? fmt::format("{} s", seconds) : fmt::format("{} us", duration.micros);
}

std::vector<KeyExplanation::Field> FieldsOf(const Grammar& grammar, BytesView key) {
  std::vector<KeyExplanation::Field> fields;
  for (const Grammar::Part& part : grammar.PartsOf(key)) {
    if (!part.field) continue;
    const GrammarField& field = grammar.fields()[*part.field];
    fields.push_back({field.name, field.type.ToString(), part.position, Bytes(part.bytes)});
  }
  return fields;
}

}  // namespace

KeyExplanation ExplainKey(const NamespaceTable& table, BytesView user_key) {
  KeyExplanation explained;
  explained.key = user_key;
  NamespaceTable::Reading reading;
  table.Read(user_key, &reading);
  if (reading.verdict == NamespaceTable::Verdict::kFree) return explained;
  const Namespace& space = *reading.space;
  const Grammar& grammar = space.spec.grammar;
  explained.namespaces = {space.spec.name};
  for (const Namespace* other : table.Around(user_key)) {
    if (other != &space) explained.namespaces.push_back(other->spec.name);
  }
  explained.grammar = grammar.ToString();
  explained.fields = FieldsOf(grammar, user_key);
  if (reading.verdict == NamespaceTable::Verdict::kRefused) {
    explained.verdict = KeyExplanation::Verdict::kRefused;
    explained.problem = {reading.mismatch.position, std::string(grammar.FieldAt(reading.mismatch)),
                         grammar.Expected(reading.mismatch)};
    return explained;
  }
  explained.verdict = KeyExplanation::Verdict::kGoverned;
  explained.partition = Bytes(user_key.substr(0, space.PartitionEnd(user_key, reading.fields)));
  if (space.tenant) explained.tenant = Bytes(reading.fields[*space.tenant]);
  explained.profile = space.spec.profile;
  explained.default_ttl = space.spec.default_ttl;
  explained.retention = space.spec.retention;
  explained.envelope_required = space.spec.envelope.required;
  explained.feed = space.spec.feed;
  explained.dropping = space.state == Namespace::State::kDropping;
  return explained;
}

std::string KeyExplanation::ToString() const {
  std::string text = fmt::format("{}\n", Escaped(key));
  if (verdict == Verdict::kFree) return text + "no namespace governs this key: any key and any value may be there\n";
  text += fmt::format("{} {}: {}\n", verdict == Verdict::kGoverned ? "namespace" : "refused by namespace",
                      namespaces.front(), grammar);
  size_t widest = 0;
  for (const Field& field : fields) widest = std::max(widest, field.name.size());
  for (const Field& field : fields) {
    text += fmt::format("  {:<{}} = {}  ({} at {})\n", field.name, widest, Escaped(field.value), field.type,
                        field.position);
  }
  if (problem) {
    text += fmt::format("  at {}{}{}: expected {}\n", problem->position, problem->field.empty() ? "" : ", in ",
                        problem->field, problem->expected);
    for (size_t i = 1; i < namespaces.size(); ++i) text += fmt::format("nor is it of namespace {}\n", namespaces[i]);
    return text;
  }
  text += fmt::format("partition {}\n", Escaped(*partition));
  if (tenant) text += fmt::format("tenant {}\n", Escaped(*tenant));
  text += fmt::format("profile {}\n", ProfileName(profile));
  if (default_ttl)
    text += fmt::format("expires {} after it is put, unless the put says otherwise\n", InSeconds(*default_ttl));
  if (retention) text += fmt::format("erased once {} is older than {}\n", retention->field, InSeconds(retention->keep));
  if (envelope_required) text += "values are envelopes\n";
  if (feed) text += "changes are in the region's feed\n";
  if (dropping) text += "the namespace is being dropped: nothing can be put\n";
  return text;
}

}  // namespace kvarts
