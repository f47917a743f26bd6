// COMMAND, and the HELP of everything that has subcommands.
#include <algorithm>

#include "base/lower_case.h"
#include "model/structure/glob.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_keys.h"
#include "protocol/resp/command_names.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

void WriteNames(ReplyWriter& reply, const std::vector<std::string_view>& names) {
  reply.Set(names.size());
  for (const std::string_view name : names) reply.Simple(name);
}

std::vector<std::string_view> TipsOf(const Command& command) {
  std::vector<std::string_view> tips;
  const CommandDoc* doc = DocOf(command.name);
  std::string_view left = doc == nullptr ? std::string_view() : doc->tips;
  while (!left.empty()) {
    const size_t end = std::min(left.find(' '), left.size());
    tips.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return tips;
}

void WriteBegin(ReplyWriter& reply, const KeySpec& spec) {
  reply.Map(2).Bulk("type");
  if (spec.unknown) {
    reply.Bulk("unknown").Bulk("spec").Map(0);
  } else if (spec.keyword.empty()) {
    reply.Bulk("index").Bulk("spec").Map(1).Bulk("index").Int(spec.index);
  } else {
    reply.Bulk("keyword").Bulk("spec").Map(2).Bulk("keyword").Bulk(spec.keyword);
    reply.Bulk("startfrom").Int(spec.start_from);
  }
}

void WriteFind(ReplyWriter& reply, const KeySpec& spec) {
  reply.Map(2).Bulk("type");
  if (spec.unknown) {
    reply.Bulk("unknown").Bulk("spec").Map(0);
  } else if (spec.number) {
    reply.Bulk("keynum").Bulk("spec").Map(3).Bulk("keynumidx").Int(0).Bulk("firstkey").Int(1).Bulk("keystep").Int(1);
  } else {
    reply.Bulk("range").Bulk("spec").Map(3).Bulk("lastkey").Int(spec.last).Bulk("keystep").Int(spec.step);
    reply.Bulk("limit").Int(spec.half ? 2 : 0);
  }
}

void WriteKeySpecs(ReplyWriter& reply, const Command& command) {
  const std::vector<KeySpec>& specs = KeySpecsOf(command);
  reply.Set(specs.size());
  for (const KeySpec& spec : specs) {
    reply.Map(3).Bulk("flags");
    WriteNames(reply, AccessNames(spec.access));
    reply.Bulk("begin_search");
    WriteBegin(reply, spec);
    reply.Bulk("find_keys");
    WriteFind(reply, spec);
  }
}

// Those of the subcommands that COMMAND tells of: what is only there for tests of the server is not.
std::vector<const Command*> ShownSubcommands(const Command& command) {
  std::vector<const Command*> shown;
  for (const Command& sub : SubcommandsOf(command)) {
    if (DocOf(sub.name) != nullptr) shown.push_back(&sub);
  }
  return shown;
}

void Describe(ReplyWriter& reply, const Command& command) {
  reply.Array(10).Bulk(command.name).Int(command.arity);
  WriteNames(reply, FlagNames(command.flags));
  reply.Int(command.first_key).Int(command.last_key).Int(command.step);
  WriteNames(reply, CategoryNames(command.categories));
  const std::vector<std::string_view> tips = TipsOf(command);
  reply.Set(tips.size());
  for (const std::string_view tip : tips) reply.Bulk(tip);
  WriteKeySpecs(reply, command);
  const std::vector<const Command*> subcommands = ShownSubcommands(command);
  reply.Set(subcommands.size());
  for (const Command* sub : subcommands) Describe(reply, *sub);
}

void WriteDoc(ReplyWriter& reply, const Command& command) {
  const CommandDoc none{command.name, "server", "", "", ""};
  const CommandDoc* doc = DocOf(command.name);
  if (doc == nullptr) doc = &none;
  const std::vector<const Command*> subcommands = ShownSubcommands(command);
  const bool deprecated = !doc->deprecated_since.empty();
  reply.Map(3 + (doc->complexity.empty() ? 0 : 1) + (deprecated ? 2 : 0) + (subcommands.empty() ? 0 : 1));
  reply.Bulk("summary").Bulk(doc->summary).Bulk("since").Bulk(doc->since).Bulk("group").Bulk(doc->group);
  if (!doc->complexity.empty()) reply.Bulk("complexity").Bulk(doc->complexity);
  if (deprecated) {
    reply.Bulk("doc_flags").Set(1).Simple("deprecated");
    reply.Bulk("deprecated_since").Bulk(doc->deprecated_since);
  }
  if (subcommands.empty()) return;
  reply.Bulk("subcommands").Map(subcommands.size());
  for (const Command* sub : subcommands) {
    reply.Bulk(sub->name);
    WriteDoc(reply, *sub);
  }
}

// What LIST filters by.
struct Filter {
  enum class By : uint8_t { kNothing, kCategory, kPattern, kModule } by = By::kNothing;
  uint32_t category = 0;
  std::string_view pattern = {};

  bool Takes(const Command& command) const {
    switch (by) {
      case By::kNothing:
        return true;
      case By::kCategory:
        return (command.categories & category) != 0;
      case By::kPattern:
        return structure::GlobMatches(pattern, command.name);
      case By::kModule:
        return false;
    }
    return false;
  }
};

Result<Filter> FilterOf(Arguments arguments) {
  if (arguments.empty()) return Filter{};
  if (arguments.size() != 3 || !IsWord(arguments[0], "FILTERBY")) return Wrong(kSyntaxError);
  if (IsWord(arguments[1], "ACLCAT")) return Filter{Filter::By::kCategory, CategoryOf(arguments[2])};
  if (IsWord(arguments[1], "PATTERN")) return Filter{Filter::By::kPattern, 0, arguments[2]};
  if (IsWord(arguments[1], "MODULE")) return Filter{Filter::By::kModule};
  return Wrong(kSyntaxError);
}

Result<std::vector<FoundKey>> KeysOf(Arguments arguments) {
  const Command* command = FindCommand(arguments).command;
  if (command == nullptr) return Wrong("Invalid command specified");
  if (!HasKeys(*command)) return Wrong("The command has no key arguments");
  if (!command->Takes(arguments.size())) return Wrong("Invalid number of arguments specified for command");
  std::optional<std::vector<FoundKey>> keys = FindKeys(*command, arguments);
  if (!keys) return Wrong("Invalid arguments specified for command");
  return *std::move(keys);
}

// The command of each name; all of them when there is no name.
std::vector<const Command*> Asked(Arguments names) {
  std::vector<const Command*> commands;
  for (const std::string_view name : names) commands.push_back(FindCommand(name));
  if (!names.empty()) return commands;
  for (const Command& command : AllCommands()) commands.push_back(&command);
  return commands;
}

void DescribeAll(ReplyWriter& reply, const std::vector<const Command*>& commands) {
  reply.Array(commands.size());
  for (const Command* command : commands) {
    if (command == nullptr) {
      reply.NullArray();
    } else {
      Describe(reply, *command);
    }
  }
}

}  // namespace

Status CommandAll(ClientCall& call) {
  DescribeAll(call.reply, Asked({}));
  return {};
}

Status CommandInfo(ClientCall& call) {
  DescribeAll(call.reply, Asked(call.arguments.subspan(2)));
  return {};
}

Status CommandCountAll(ClientCall& call) {
  call.reply.Int(static_cast<int64_t>(AllCommands().size()));
  return {};
}

Status CommandDocs(ClientCall& call) {
  std::vector<const Command*> commands = Asked(call.arguments.subspan(2));
  std::erase(commands, nullptr);
  call.reply.Map(commands.size());
  for (const Command* command : commands) {
    call.reply.Bulk(command->name);
    WriteDoc(call.reply, *command);
  }
  return {};
}

Status CommandList(ClientCall& call) {
  KVARTS_TRY(const Filter filter, FilterOf(call.arguments.subspan(2)));
  std::vector<std::string_view> names;
  for (const Command& command : AllCommands()) {
    if (filter.Takes(command)) names.push_back(command.name);
    for (const Command* sub : ShownSubcommands(command)) {
      if (filter.Takes(*sub)) names.push_back(sub->name);
    }
  }
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.Bulk(name);
  return {};
}

Status CommandGetKeys(ClientCall& call) {
  const Arguments arguments = call.arguments.subspan(2);
  KVARTS_TRY(const std::vector<FoundKey> keys, KeysOf(arguments));
  call.reply.Array(keys.size());
  for (const FoundKey& key : keys) call.reply.Bulk(arguments[key.at]);
  return {};
}

Status CommandGetKeysAndFlags(ClientCall& call) {
  const Arguments arguments = call.arguments.subspan(2);
  KVARTS_TRY(const std::vector<FoundKey> keys, KeysOf(arguments));
  call.reply.Array(keys.size());
  for (const FoundKey& key : keys) {
    call.reply.Array(2).Bulk(arguments[key.at]);
    WriteNames(call.reply, AccessNames(key.access));
  }
  return {};
}

Status Help(ClientCall& call) {
  const Command& command = *FindCommand(call.arguments[0]);
  const std::span<const Command> subcommands = SubcommandsOf(command);
  call.reply.Array(1 + 2 * subcommands.size());
  call.reply.Simple(UpperCase(command.name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const Command& sub : subcommands) {
    const CommandDoc* doc = DocOf(sub.name);
    call.reply.Simple(UpperCase(sub.name.substr(command.name.size() + 1)));
    call.reply.Simple("    " + std::string(doc == nullptr ? "For tests of the server." : doc->summary));
  }
  return {};
}

}  // namespace kvarts::resp
