// SORT and SORT_RO.
#include "model/structure/dump.h"
#include "model/structure/sort.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::SortOptions;

struct Wanted {
  SortOptions options;
  std::optional<size_t> store;  // the argument that names where
};

Result<Wanted> ReadWanted(Arguments arguments, bool may_store) {
  Wanted wanted;
  SortOptions& options = wanted.options;
  for (size_t i = 2; i < arguments.size(); ++i) {
    const size_t behind = arguments.size() - i - 1;
    const std::string_view word = arguments[i];
    if (IsWord(word, "ASC")) {
      options.descending = false;
    } else if (IsWord(word, "DESC")) {
      options.descending = true;
    } else if (IsWord(word, "ALPHA")) {
      options.by_text = true;
    } else if (IsWord(word, "LIMIT") && behind >= 2) {
      KVARTS_TRY(options.first, IntegerOf(arguments[i + 1]));
      KVARTS_TRY(options.count, IntegerOf(arguments[i + 2]));
      i += 2;
    } else if (may_store && IsWord(word, "STORE") && behind >= 1) {
      wanted.store = ++i;
      options.stores = true;
    } else if (IsWord(word, "BY") && behind >= 1) {
      options.by = arguments[++i];
    } else if (IsWord(word, "GET") && behind >= 1) {
      options.get.push_back(arguments[++i]);
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return wanted;
}

Status SortKey(DataCall& call, bool may_store) {
  KVARTS_TRY(const Wanted wanted, ReadWanted(call.arguments, may_store));
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  KVARTS_TRY(std::vector<std::optional<Bytes>> sorted,
             structure::Sorted(call.keys, call.database, *key, wanted.options));
  if (!wanted.store) {
    call.reply.Array(sorted.size());
    for (const std::optional<Bytes>& element : sorted) {
      if (element) {
        call.reply.Bulk(*element);
      } else {
        call.reply.Null();
      }
    }
    return {};
  }
  KVARTS_TRY(Key * to, call.Open(*wanted.store));
  call.reply.Int(static_cast<int64_t>(sorted.size()));
  if (sorted.empty()) {
    if (!to->exists()) return {};
    to->Remove();
    call.TellIfGone(*to);
    return {};
  }
  structure::RdbValue list{structure::Type::kList};
  for (std::optional<Bytes>& element : sorted) list.elements.push_back(std::move(element).value_or(Bytes()));
  KVARTS_CHECK_OK(structure::PutValue(*to, std::move(list)));
  call.Tell(structure::kListEvents, "sortstore", *to);
  return {};
}

}  // namespace

Status Sort(DataCall& call) { return SortKey(call, true); }
Status SortRo(DataCall& call) { return SortKey(call, false); }

}  // namespace kvarts::resp
