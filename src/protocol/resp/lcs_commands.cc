// LCS: what two strings have in common.
#include <algorithm>

#include "model/structure/lcs.h"
#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::CommonStretch;
using structure::Key;

struct Options {
  bool size = false;
  bool places = false;
  bool with_sizes = false;
  int64_t least = 0;
};

Result<Options> ReadOptions(Arguments arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (IsWord(arguments[i], "LEN")) {
      options.size = true;
    } else if (IsWord(arguments[i], "IDX")) {
      options.places = true;
    } else if (IsWord(arguments[i], "WITHMATCHLEN")) {
      options.with_sizes = true;
    } else if (IsWord(arguments[i], "MINMATCHLEN") && i + 1 < arguments.size()) {
      KVARTS_TRY(options.least, IntegerOf(arguments[++i]));
    } else {
      return Wrong(kSyntaxError);
    }
  }
  if (options.places && options.size) {
    return Wrong("If you want both the length and indexes, please just use IDX.");
  }
  return options;
}

void ReplyPlaces(ReplyWriter& reply, const structure::Common& common, const Options& options) {
  const auto shown = [&](const CommonStretch& stretch) { return static_cast<int64_t>(stretch.size) >= options.least; };
  reply.Map(2).Bulk("matches");
  reply.Array(static_cast<size_t>(std::ranges::count_if(common.stretches, shown)));
  for (const CommonStretch& stretch : common.stretches) {
    if (!shown(stretch)) continue;
    const auto size = static_cast<int64_t>(stretch.size);
    reply.Array(options.with_sizes ? 3 : 2);
    for (const size_t begin : {stretch.first_begin, stretch.second_begin}) {
      reply.Array(2).Int(static_cast<int64_t>(begin)).Int(static_cast<int64_t>(begin) + size - 1);
    }
    if (options.with_sizes) reply.Int(size);
  }
  reply.Bulk("len").Int(static_cast<int64_t>(common.size));
}

}  // namespace

Status Lcs(DataCall& call) {
  KVARTS_TRY(const Key* first, call.OpenToRead(1));
  KVARTS_TRY(const Key* second, call.OpenToRead(2));
  if (!first->ExpectText().has_value() || !second->ExpectText().has_value()) {
    return Wrong("The specified keys must contain string values");
  }
  KVARTS_TRY(const Options options, ReadOptions(call.arguments.subspan(3)));
  // What is larger is refused, and not read.
  KVARTS_TRY(const Bytes a, structure::TextOf(*first, 0, structure::kMaxLcsPairs));
  KVARTS_TRY(const Bytes b, structure::TextOf(*second, 0, structure::kMaxLcsPairs));
  KVARTS_TRY(const structure::Common common, structure::LongestCommon(a, b, !options.size));
  if (options.size) {
    call.reply.Int(static_cast<int64_t>(common.size));
  } else if (options.places) {
    ReplyPlaces(call.reply, common, options);
  } else {
    call.reply.Bulk(common.text);
  }
  return {};
}

}  // namespace kvarts::resp
