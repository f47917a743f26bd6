#include "model/access/scope.h"

#include <algorithm>

namespace kvarts {
namespace {

struct NamedRight {
  Right right;
  std::string_view name;
};
constexpr NamedRight kRights[] = {{Right::kRead, "read"}, {Right::kWrite, "write"}, {Right::kAdmin, "admin"}};

constexpr std::string_view kNamespaceIs = "namespace=";
constexpr std::string_view kPrefixIs = "prefix=";

// The rights over keys that a scope gives, implied ones included.
bool Gives(const Scope& scope, Right right) {
  const bool over_all = scope.where == Scope::Where::kEverything && scope.rights.Has(Right::kAdmin);
  return over_all || scope.rights.Has(right);
}

// Whether the scope's place holds what lies in this namespace and, as `in_prefix` says, under this prefix.
template <class InPrefix>
bool Covers(const Scope& scope, std::string_view name_space, const InPrefix& in_prefix) {
  switch (scope.where) {
    case Scope::Where::kEverything:
      return true;
    case Scope::Where::kNamespace:
      return !name_space.empty() && name_space == scope.what;
    case Scope::Where::kPrefix:
      return in_prefix(scope.what);
  }
  return false;
}

Result<Rights> ParseRights(std::string_view text) {
  Rights rights;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    const auto found = std::ranges::find(kRights, name, &NamedRight::name);
    if (found == std::end(kRights) || rights.Has(found->right)) {
      return Error(ErrorCode::kInvalidArgument, "a scope begins with rights out of read, write and admin",
                   {{"is", Escaped(name)}});
    }
    rights = rights | found->right;
    if (comma == text.npos) return rights;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Status Scope::Check() const {
  if (rights.empty()) return Error(ErrorCode::kInvalidArgument, "a scope needs a right");
  const bool named = where != Where::kEverything;
  if (named == what.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a scope is over everything, or over a named place");
  }
  const size_t at_most = where == Where::kPrefix ? kMaxPrefixBytes : kMaxNamespaceBytes;
  if (what.size() > at_most) {
    return Error(ErrorCode::kTooLarge, "the place of a scope is too long",
                 {{"at_most", std::to_string(at_most)}, {"is", std::to_string(what.size())}});
  }
  if (where == Where::kPrefix && rights.Has(Right::kAdmin)) {
    return Error(ErrorCode::kInvalidArgument, "admin is over everything or a namespace, not over a prefix");
  }
  return {};
}

std::string Scope::ToString() const {
  std::string text;
  for (const NamedRight& named : kRights) {
    if (!rights.Has(named.right)) continue;
    if (!text.empty()) text.push_back(',');
    text.append(named.name);
  }
  if (where == Where::kNamespace) text.append(":").append(kNamespaceIs).append(Escaped(what));
  if (where == Where::kPrefix) text.append(":").append(kPrefixIs).append(Escaped(what));
  return text;
}

Result<Scope> Scope::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  Scope scope;
  KVARTS_TRY(scope.rights, ParseRights(text.substr(0, colon)));
  if (colon != text.npos) {
    std::string_view place = text.substr(colon + 1);
    const bool prefix = place.starts_with(kPrefixIs);
    if (!prefix && !place.starts_with(kNamespaceIs)) {
      return Error(ErrorCode::kInvalidArgument, "the place of a scope is namespace=NAME or prefix=P",
                   {{"is", Escaped(place)}});
    }
    scope.where = prefix ? Where::kPrefix : Where::kNamespace;
    place.remove_prefix(prefix ? kPrefixIs.size() : kNamespaceIs.size());
    KVARTS_TRY(scope.what, ParseEscaped(place));
  }
  KVARTS_CHECK_OK(scope.Check());
  return scope;
}

bool Allows(std::span<const Scope> scopes, Right right, BytesView key, std::string_view name_space) {
  return std::ranges::any_of(scopes, [&](const Scope& scope) {
    return Gives(scope, right) && Covers(scope, name_space, [&](BytesView prefix) { return key.starts_with(prefix); });
  });
}

bool Allows(std::span<const Scope> scopes, Right right, const KeyRange& range, std::string_view name_space) {
  const auto in_prefix = [&](BytesView prefix) { return KeyRange::Prefix(prefix).Contains(range); };
  return std::ranges::any_of(scopes, [&](const Scope& scope) {
    if (range.IsEmpty() && scope.where != Scope::Where::kEverything) return false;
    return Gives(scope, right) && Covers(scope, name_space, in_prefix);
  });
}

bool AllowsSome(std::span<const Scope> scopes, Right right) {
  return std::ranges::any_of(scopes, [&](const Scope& scope) { return Gives(scope, right); });
}

bool AllowsAdmin(std::span<const Scope> scopes) { return AllowsAdmin(scopes, {}); }

bool AllowsAdmin(std::span<const Scope> scopes, std::string_view name_space) {
  return std::ranges::any_of(scopes, [&](const Scope& scope) {
    return scope.rights.Has(Right::kAdmin) && Covers(scope, name_space, [](BytesView) { return false; });
  });
}

}  // namespace kvarts
