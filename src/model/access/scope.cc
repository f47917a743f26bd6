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
constexpr std::string_view kTablesAre = "tables=";

struct NamedPlace {
  Scope::Where where;
  std::string_view begins;
};
constexpr NamedPlace kPlaces[] = {
    {Scope::Where::kNamespace, kNamespaceIs}, {Scope::Where::kPrefix, kPrefixIs}, {Scope::Where::kTables, kTablesAre}};

size_t MostBytes(Scope::Where where) {
  switch (where) {
    case Scope::Where::kPrefix:
      return Scope::kMaxPrefixBytes;
    case Scope::Where::kTables:
      return Scope::kMaxTablesBytes;
    case Scope::Where::kEverything:
    case Scope::Where::kNamespace:
      return Scope::kMaxNamespaceBytes;
  }
  return 0;
}

// One to three names with slashes between them.
bool IsTablesPath(std::string_view path) {
  const auto slashes = std::ranges::count(path, '/');
  return slashes <= 2 && !path.starts_with('/') && !path.ends_with('/') && path.find("//") == path.npos;
}

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
    case Scope::Where::kTables:
      return false;
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
  const size_t at_most = MostBytes(where);
  if (what.size() > at_most) {
    return Error(ErrorCode::kTooLarge, "the place of a scope is too long",
                 {{"at_most", std::to_string(at_most)}, {"is", std::to_string(what.size())}});
  }
  if (where == Where::kPrefix && rights.Has(Right::kAdmin)) {
    return Error(ErrorCode::kInvalidArgument, "admin is over everything, a namespace or tables, not over a prefix");
  }
  if (where == Where::kTables && !IsTablesPath(what)) {
    return Error(ErrorCode::kInvalidArgument, "tables are PROJECT, PROJECT/DATASET or PROJECT/DATASET/TABLE",
                 {{"is", Escaped(what)}});
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
  const auto* const place = std::ranges::find(kPlaces, where, &NamedPlace::where);
  if (place != std::end(kPlaces)) text.append(":").append(place->begins).append(Escaped(what));
  return text;
}

Result<Scope> Scope::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  Scope scope;
  KVARTS_TRY(scope.rights, ParseRights(text.substr(0, colon)));
  if (colon != text.npos) {
    std::string_view place = text.substr(colon + 1);
    const auto* const named =
        std::ranges::find_if(kPlaces, [&](const NamedPlace& known) { return place.starts_with(known.begins); });
    if (named == std::end(kPlaces)) {
      return Error(ErrorCode::kInvalidArgument,
                   "the place of a scope is namespace=NAME, prefix=P or tables=PROJECT/DATASET/TABLE",
                   {{"is", Escaped(place)}});
    }
    scope.where = named->where;
    place.remove_prefix(named->begins.size());
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

bool AllowsTables(std::span<const Scope> scopes, Right right, std::string_view path) {
  const auto within = [&](std::string_view place) {
    return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
  };
  return std::ranges::any_of(scopes, [&](const Scope& scope) {
    if (scope.where == Scope::Where::kEverything) return Gives(scope, right);
    return scope.where == Scope::Where::kTables && Gives(scope, right) && within(scope.what);
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
