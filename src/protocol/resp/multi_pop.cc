#include "protocol/resp/multi_pop.h"

#include "protocol/resp/arguments.h"

namespace kvarts::resp {

Result<MultiPop> ReadMultiPop(Arguments arguments, std::string_view word, std::string_view other_word) {
  constexpr const char* kNoKeys = "numkeys should be greater than 0";
  constexpr const char* kNoCount = "count should be greater than 0";
  MultiPop pop;
  KVARTS_TRY(const int64_t keys, IntegerOf(arguments[0], kNoKeys));
  if (keys < 1) return Wrong(kNoKeys);
  if (static_cast<uint64_t>(keys) + 1 >= arguments.size()) return Wrong(kSyntaxError);
  pop.keys = arguments.subspan(1, static_cast<size_t>(keys));
  pop.where = arguments[1 + pop.keys.size()];
  if (!IsWord(pop.where, word) && !IsWord(pop.where, other_word)) return Wrong(kSyntaxError);
  const Arguments options = arguments.subspan(2 + pop.keys.size());
  if (options.empty()) return pop;
  if (options.size() == 1 || !IsWord(options[0], "COUNT")) return Wrong(kSyntaxError);
  KVARTS_TRY(const int64_t count, IntegerOf(options[1], kNoCount));
  if (count < 1) return Wrong(kNoCount);
  if (options.size() > 2) return Wrong(kSyntaxError);
  pop.count = static_cast<uint64_t>(count);
  return pop;
}

}  // namespace kvarts::resp
