#include "net/http/negotiate.h"

#include <algorithm>

#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr int kFullWeight = 1000;

// Takes the text before the next `separator` that is not within quotes, without the blanks around it.
std::string_view TakeUntil(std::string_view* from, char separator) {
  size_t at = 0;
  for (bool quoted = false; at < from->size() && (quoted || (*from)[at] != separator); ++at) {
    if ((*from)[at] == '"') quoted = !quoted;
    if (quoted && (*from)[at] == '\\') ++at;
  }
  at = std::min(at, from->size());
  const std::string_view taken = from->substr(0, at);
  from->remove_prefix(std::min(at + 1, from->size()));
  return Trimmed(taken);
}

// "0.7" in thousandths; -1 when it is no weight. Kind to ".7" and to more digits than the RFC allows.
int ParseWeight(std::string_view text) {
  int weight = 0;
  int unit = kFullWeight;
  bool fraction = false;
  if (text.empty()) return -1;
  for (const char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return -1;
    if (fraction) unit /= 10;
    weight = std::min(fraction ? weight + (c - '0') * unit : (weight * 10 + (c - '0') * unit), kFullWeight);
  }
  return weight;
}

// One element of a header with weights: "text/html;level=1;q=0.5". The weight is -1 when it cannot be understood.
struct Weighted {
  std::string_view name;
  int weight = kFullWeight;
};

Weighted TakeWeighted(std::string_view* list) {
  std::string_view element = TakeUntil(list, ',');
  Weighted taken{TakeUntil(&element, ';')};
  while (!element.empty()) {
    const std::string_view parameter = TakeUntil(&element, ';');
    if (parameter.size() > 1 && Lower(parameter[0]) == 'q' && parameter[1] == '=') {
      taken.weight = ParseWeight(parameter.substr(2));
    }
  }
  return taken;
}

// How precisely `range` names the type: 3 exactly, 2 as type/*, 1 as */*, 0 not at all. A lone * is what old clients
// write.
int PrecisionOf(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == "*") return 1;
  if (range.ends_with("/*")) {
    range.remove_suffix(1);
    return EqualsIgnoringCase(range, type.substr(0, std::min(range.size(), type.size()))) ? 2 : 0;
  }
  return EqualsIgnoringCase(range, type) ? 3 : 0;
}

// What is left of a list after the tag at its front, or nothing when there is none.
std::optional<std::string_view> TakeTag(std::string_view list, EntityTag* tag) {
  tag->weak = list.starts_with("W/");
  if (tag->weak) list.remove_prefix(2);
  if (list.empty() || list[0] != '"') return std::nullopt;
  size_t end = 1;
  while (end < list.size() && Is(list[end], kTagClass)) ++end;
  if (end == list.size() || list[end] != '"') return std::nullopt;
  tag->text = list.substr(1, end - 1);
  return list.substr(end + 1);
}

// Takes the comma and the blanks around it off the front.
bool TakeComma(std::string_view* list) {
  while (!list->empty() && IsBlank(list->front())) list->remove_prefix(1);
  if (list->empty() || list->front() != ',') return false;
  list->remove_prefix(1);
  while (!list->empty() && IsBlank(list->front())) list->remove_prefix(1);
  return true;
}

}  // namespace

std::optional<size_t> ChooseMedia(std::string_view accept, std::span<const std::string_view> offered) {
  if (accept.empty() || accept == "*/*") return 0;
  for (size_t i = 0; i < offered.size(); ++i) {
    if (accept == offered[i]) return i;
  }
  std::optional<size_t> best;
  std::pair<int, int> best_rank;
  for (size_t i = 0; i < offered.size(); ++i) {
    int precision = 0;
    int weight = 0;
    for (std::string_view list = accept; !list.empty();) {
      const Weighted element = TakeWeighted(&list);
      const int own = element.weight < 0 ? 0 : PrecisionOf(element.name, offered[i]);
      if (own < precision || own == 0) continue;
      weight = own == precision ? std::max(weight, element.weight) : element.weight;
      precision = own;
    }
    const std::pair<int, int> rank(weight, precision);
    if (weight > 0 && (!best || rank > best_rank)) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  int named = -1;
  int any = -1;
  while (!accept_encoding.empty()) {
    const Weighted element = TakeWeighted(&accept_encoding);
    if (EqualsIgnoringCase(element.name, "gzip") || EqualsIgnoringCase(element.name, "x-gzip")) named = element.weight;
    if (element.name == "*") any = element.weight;
  }
  return named >= 0 ? named > 0 : any > 0;
}

Result<EntityTags> EntityTags::Parse(std::string_view value, const char* header) {
  EntityTags tags;
  if (value == "*") return tags;
  const auto malformed = [header] {
    return Error(ErrorCode::kInvalidArgument, "a list of entity tags is malformed", {{"header", header}});
  };
  auto rest = TakeTag(value, &tags.first_);
  if (!rest) return malformed();
  tags.rest_ = *rest;
  for (tags.count_ = 1; !rest->empty(); ++tags.count_) {
    EntityTag tag;
    std::string_view list = *rest;
    if (!TakeComma(&list)) return malformed();
    rest = TakeTag(list, &tag);
    if (!rest) return malformed();
    if (tags.count_ == kMaxTags) {
      return Error(ErrorCode::kInvalidArgument, "too many entity tags", {{"header", header}});
    }
  }
  return tags;
}

bool EntityTags::Holds(std::string_view tag, bool weakly) const {
  if (any()) return true;
  EntityTag own = first_;
  std::string_view rest = rest_;
  while (true) {
    if (own.text == tag && (weakly || !own.weak)) return true;
    if (!TakeComma(&rest)) return false;
    const auto left = TakeTag(rest, &own);
    if (!left) return false;
    rest = *left;
  }
}

void EntityTags::ForEach(const std::function<void(const EntityTag&)>& visit) const {
  if (any()) return;
  EntityTag own = first_;
  std::optional<std::string_view> rest = rest_;
  do {
    visit(own);
    rest = TakeComma(&*rest) ? TakeTag(*rest, &own) : std::nullopt;
  } while (rest);
}

Result<MediaType> MediaType::Parse(std::string_view value) {
  MediaType type;
  if (value.empty()) return type;
  if (value == "application/json" || value == "application/octet-stream") {
    type.essence_ = value;
    return type;
  }
  const Error malformed(ErrorCode::kInvalidArgument, "a media type is malformed");
  type.essence_ = TakeUntil(&value, ';');
  const size_t slash = type.essence_.find('/');
  if (slash == 0 || slash >= type.essence_.size() - 1) return malformed;
  if (!AllAre(type.essence_.substr(0, slash), kTokenClass)) return malformed;
  if (!AllAre(type.essence_.substr(slash + 1), kTokenClass)) return malformed;
  while (!value.empty()) {
    std::string_view parameter = TakeUntil(&value, ';');
    if (parameter.empty()) continue;
    const size_t equals = parameter.find('=');
    if (equals == 0 || equals == parameter.npos || !AllAre(parameter.substr(0, equals), kTokenClass)) return malformed;
    std::string_view text = parameter.substr(equals + 1);
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    if (quoted) text = text.substr(1, text.size() - 2);
    if (!quoted && (text.empty() || !AllAre(text, kTokenClass))) return malformed;
    if (!EqualsIgnoringCase(parameter.substr(0, equals), "charset")) continue;
    // Given twice it could be read either way.
    if (type.charset_.data() != nullptr) return malformed;
    type.charset_ = text;
  }
  return type;
}

bool MediaType::Is(std::string_view type) const { return EqualsIgnoringCase(essence_, type); }

bool MediaType::IsJson() const {
  constexpr std::string_view kSuffix = "+json";
  if (Is("application/json")) return true;
  return essence_.size() > kSuffix.size() &&
         EqualsIgnoringCase(essence_.substr(essence_.size() - kSuffix.size()), kSuffix);
}

Bytes MediaType::ToLower() const {
  Bytes lower(essence_);
  std::ranges::transform(lower, lower.begin(), Lower);
  return lower;
}

bool MediaType::IsUtf8() const { return charset_.empty() || EqualsIgnoringCase(charset_, "utf-8"); }

}  // namespace kvarts::http
