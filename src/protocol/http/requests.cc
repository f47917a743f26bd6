#include "protocol/http/requests.h"

#include <array>

#include "net/http/negotiate.h"
#include "protocol/http/problem.h"
#include "protocol/http/tags.h"

namespace kvarts::http {

Result<BytesView> KeyOf(const Call& call, Bytes* scratch) {
  KVARTS_TRY(const BytesView key, PercentDecode(call.values[0], scratch));
  if (key.empty()) return Error(ErrorCode::kInvalidArgument, "the key is empty");
  return key;
}

Result<keys::Condition> ConditionOf(const Call& call) {
  using Kind = keys::Condition::Kind;
  const bool match = call.head.Has(Field::kIfMatch);
  const bool none = call.head.Has(Field::kIfNoneMatch);
  if (!match && !none) return keys::Condition();
  if (match && none) {
    return Error(ErrorCode::kInvalidArgument, "If-Match and If-None-Match exclude each other");
  }
  if (none) {
    KVARTS_TRY(const EntityTags tags, EntityTags::Parse(call.head.if_none_match(), "If-None-Match"));
    if (tags.any()) return keys::Condition{Kind::kAbsent};
    return Error(ErrorCode::kInvalidArgument, "of a write, If-None-Match can only be *");
  }
  return MatchOf(call.head.if_match());
}

Result<keys::Condition> MatchOf(std::string_view if_match) {
  using Kind = keys::Condition::Kind;
  KVARTS_TRY(const EntityTags tags, EntityTags::Parse(if_match, "If-Match"));
  if (tags.any()) return keys::Condition{Kind::kPresent};
  keys::Condition condition{Kind::kVersionIn};
  tags.ForEach([&](const EntityTag& tag) {
    const auto version = VersionInTag(tag.text);
    // A weak tag matches nothing, and neither does what is no version.
    if (version && !tag.weak) condition.versions.push_back(*version);
  });
  if (condition.versions.empty()) condition.versions.push_back(kNoVersion);
  return condition;
}

Result<RunOptions> RunOptionsOf(const Call& call) {
  RunOptions options;
  options.durability = call.service.options.durability;
  options.patience = Duration::Millis(call.service.options.request_timeout.count());
  options.context.trace = call.info.trace;
  if (call.info.who) options.context.actor = call.info.who->token().name;
  if (call.head.kvarts_headers() == 0) return options;
  if (const auto wanted = call.head.Header("Kvarts-Durability")) {
    const auto durability = ParseDurability(*wanted);
    if (!durability) {
      return Error(ErrorCode::kInvalidArgument, "Kvarts-Durability is none, interval, sync, quorum or applied",
                   {{"is", std::string(*wanted)}});
    }
    options.durability = *durability;
  }
  return options;
}

namespace {

// The value of a cookie, or nothing.
std::optional<std::string_view> CookieOf(const RequestHead& head, std::string_view name) {
  std::string_view rest = head.cookie();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

Result<SessionToken> SessionOf(const RequestHead& head) {
  auto text = head.Header("Kvarts-Session");
  if (!text) text = CookieOf(head, kSessionCookie);
  if (!text) return SessionToken();
  const auto token = SessionToken::Parse(*text);
  if (token.has_value()) return *token;
  return Error(ErrorCode::kInvalidArgument, "Kvarts-Session, or its cookie, is not what a write was answered with",
               {{"is", Escaped(text->substr(0, 64))}});
}

}  // namespace

Result<Freshness> FreshnessOf(Call& call, bool consistent) {
  Freshness freshness{.consistency = consistent ? Consistency::kStrong : call.service.options.consistency};
  if (call.head.kvarts_headers() != 0) {
    if (const auto wanted = call.head.Header("Kvarts-Consistency")) {
      const auto consistency = ParseConsistency(*wanted);
      if (!consistency) {
        return Error(ErrorCode::kInvalidArgument, "Kvarts-Consistency is eventual, session or strong",
                     {{"is", std::string(*wanted)}});
      }
      if (consistent && *consistency != Consistency::kStrong) {
        return Error(ErrorCode::kInvalidArgument,
                     "the query asks for a consistent read, and Kvarts-Consistency for less",
                     {{"is", std::string(*wanted)}});
      }
      freshness.consistency = *consistency;
    }
  }
  if (freshness.consistency == Consistency::kSession) {
    KVARTS_TRY(freshness.session, SessionOf(call.head));
  }
  call.info.strong_read =
      freshness.consistency == Consistency::kStrong && call.service.engine().capabilities().replicas;
  return freshness;
}

Result<Freshness> FreshnessOf(Call& call) {
  if (call.head.query().empty()) return FreshnessOf(call, false);
  QueryReader query(call.head.query());
  const bool consistent = query.Flag("consistent");
  KVARTS_CHECK_OK(query.Finish());
  return FreshnessOf(call, consistent);
}

bool WantsMinimal(const Call& call) {
  return call.head.Has(Field::kPrefer) && call.head.prefer().find("return=minimal") != std::string_view::npos;
}

KeyRange RangeOf(QueryReader& query) {
  const auto prefix = query.Get("prefix");
  const auto start = query.Get("start");
  const auto end = query.Get("end");
  query.Require(!prefix || (!start && !end), "prefix", "a range is a prefix, or a start and an end");
  if (prefix) return KeyRange::Prefix(*prefix);
  KeyRange range{Bytes(start.value_or("")), Bytes(end.value_or(""))};
  query.Require(!range.IsEmpty(), "end", "a range must start before it ends");
  return range;
}

Result<Form> FormOf(std::optional<std::string_view> accept, std::string_view type) {
  // What nearly all say, for whom nothing is taken apart.
  if (!accept || *accept == "*/*" || *accept == "application/json") return Form::kJson;
  if (*accept == "application/octet-stream") return Form::kRaw;
  const Result<MediaType> own = MediaType::Parse(type);
  const Bytes own_type = own.has_value() ? own->ToLower() : Bytes();
  const std::array<std::string_view, 3> forms = {"application/json", own_type, "application/octet-stream"};
  const auto chosen = ChooseMedia(*accept, forms);
  if (!chosen) {
    return NotAcceptable("the answer is application/json, or the value as application/octet-stream or its own type",
                         *accept);
  }
  return *chosen == 0 ? Form::kJson : Form::kRaw;
}

Status WantJson(const Call& call) {
  KVARTS_TRY(const MediaType type, MediaType::Parse(call.head.content_type()));
  // What curl -d says of any body.
  const bool form = type.Is("application/x-www-form-urlencoded");
  if (type.absent() || form || (type.IsJson() && type.IsUtf8())) return {};
  return Error(ErrorCode::kInvalidArgument, "the body is expected as application/json",
               {{"content_type", type.ToLower()}});
}

}  // namespace kvarts::http
