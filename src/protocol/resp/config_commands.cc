// CONFIG: the parameters, under the names of Redis.
#include <set>

#include "base/lower_case.h"
#include "model/structure/glob.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/parameters.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

Error CannotSet(std::string_view name, std::string_view why) {
  return WrongWith("CONFIG SET failed (possibly related to argument ",
                   "'" + std::string(name) + "') - " + std::string(why));
}

}  // namespace

Status ConfigGet(ClientCall& call) {
  std::set<std::pair<std::string_view, const Parameter*>> found;
  for (const std::string_view pattern : call.arguments.subspan(2)) {
    const std::string lower = LowerCase(pattern);
    for (const Parameter& parameter : AllParameters()) {
      for (const std::string_view name : {parameter.name, parameter.alias}) {
        if (!name.empty() && structure::GlobMatches(lower, name)) found.emplace(name, &parameter);
      }
    }
  }
  call.reply.Map(found.size());
  for (const auto& [name, parameter] : found) call.reply.Bulk(name).Bulk(ValueOf(*parameter, call.service));
  return {};
}

// All of them or none: each is looked at before the first is set.
Status ConfigSet(WorkCall& call) {
  const Arguments pairs = call.arguments.subspan(2);
  if (pairs.size() % 2 != 0) return Wrong(kSyntaxError);
  std::set<const Parameter*> seen;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Parameter* parameter = FindParameter(pairs[i]);
    if (parameter == nullptr) {
      return WrongWith("Unknown option or number of arguments for CONFIG SET - ", "'" + std::string(pairs[i]) + "'");
    }
    if (!seen.insert(parameter).second) return CannotSet(pairs[i], "duplicate parameter");
  }
  for (const bool apply : {false, true}) {
    for (size_t i = 0; i < pairs.size(); i += 2) {
      const std::string why = SetValue(*FindParameter(pairs[i]), call.service, pairs[i + 1], apply);
      if (!why.empty()) return CannotSet(pairs[i], why);
    }
  }
  call.reply.Simple("OK");
  return {};
}

Status ConfigResetStat(ClientCall& call) {
  call.service.statistics.Reset();
  call.reply.Simple("OK");
  return {};
}

Status ConfigRewrite(ClientCall&) {
  return Wrong("the configuration is written by whoever runs the server: `kvarts config` shows it");
}

}  // namespace kvarts::resp
