#include "protocol/http/read_terms.h"

#include "net/http/negotiate.h"
#include "protocol/http/requests.h"
#include "protocol/http/tags.h"

namespace kvarts::http {

Result<bool> Matches(const ReadTerms& terms, const std::optional<Record>& record) {
  if (!terms.if_match) return true;
  KVARTS_TRY(const WriteCondition condition, MatchOf(*terms.if_match));
  return condition.HoldsFor(record);
}

Result<bool> AnswerUnchanged(const ReadTerms& terms, const RequestInfo& info, const Cost& cost, Version version,
                             Answer& answer) {
  if (!terms.if_none_match) return false;
  KVARTS_TRY(const EntityTags tags, EntityTags::Parse(*terms.if_none_match, "If-None-Match"));
  Tag tag(version);
  bool has = tags.HoldsWeakly(tag.text());
  // Who can unpack it may have it packed.
  if (!has && info.gzip) has = tags.HoldsWeakly(tag.Compressed().text());
  if (!has) return false;
  answer.Begin(304, cost).ETag(tag.text());
  answer.Finish();
  return true;
}

}  // namespace kvarts::http
