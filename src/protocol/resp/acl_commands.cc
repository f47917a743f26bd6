// ACL: users and what each of them may do.
#include "base/digest.h"
#include "protocol/resp/acl_changes.h"
#include "protocol/resp/acl_check.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/acl_text.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_names.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

Error TooManyWords(Arguments arguments) {
  return WrongWith("unknown subcommand or wrong number of arguments for '",
                   std::string(arguments[1]) + "'. Try ACL HELP.");
}

void TellSelector(ReplyWriter& reply, const AclSelector& selector) {
  reply.Bulk("commands").Bulk(CommandRulesLine(selector));
  reply.Bulk("keys").Bulk(KeyRules(selector));
  reply.Bulk("channels").Bulk(ChannelRules(selector));
}

std::string Cut(std::string_view word) { return std::string(word.substr(0, word.find('\0'))); }

}  // namespace

Status AclCat(ClientCall& call) {
  if (call.arguments.size() > 3) return TooManyWords(call.arguments);
  if (call.arguments.size() == 2) {
    const std::vector<std::string_view> names = CategoryNames(~uint32_t{0});
    call.reply.Array(names.size());
    for (const std::string_view name : names) call.reply.Bulk(name.substr(1));
    return {};
  }
  constexpr size_t kMaxShown = 128;
  const uint32_t category = CategoryOf(call.arguments[2]);
  if (category == 0) return WrongWith("Unknown category '", Cut(call.arguments[2]).substr(0, kMaxShown) + "'");
  std::vector<std::string_view> names;
  for (const Command& command : AllCommands()) {
    if ((command.categories & category) != 0) names.push_back(command.name);
    for (const Command& sub : SubcommandsOf(command)) {
      if ((sub.categories & category) != 0 && DocOf(sub.name) != nullptr) names.push_back(sub.name);
    }
  }
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.Bulk(name);
  return {};
}

Status AclDelUser(WorkCall& call) {
  const Arguments names = call.arguments.subspan(2);
  for (const std::string_view name : names) {
    if (name == kDefaultUser) return Wrong("The 'default' user cannot be removed");
  }
  KVARTS_TRY(const int64_t removed, RemoveUsers(call.service, names));
  EndThoseWithoutRights(call.service);
  call.reply.Int(removed);
  return {};
}

Status AclDryRun(ClientCall& call) {
  const auto user = call.service.acl->Find(call.arguments[2]);
  if (user == nullptr) return WrongWith("User '", Cut(call.arguments[2]) + "' not found");
  const Arguments arguments = call.arguments.subspan(3);
  const Command* command = FindCommand(arguments).command;
  if (command == nullptr) return WrongWith("Command '", Cut(arguments[0]) + "' not found");
  if (!command->Takes(arguments.size())) {
    return WrongWith("wrong number of arguments for ", "'" + std::string(command->name) + "' command");
  }
  const AclDenial denial = CheckAcl(*user, *command, arguments);
  if (!denial) {
    call.reply.Simple("OK");
  } else if (denial.of == AclDenial::Of::kCommand) {
    call.reply.Bulk("This user has no permissions to run the '" + std::string(AclNameOf(*command)) + "' command");
  } else {
    const bool key = denial.of == AclDenial::Of::kKey;
    call.reply.Bulk("This user has no permissions to access the '" + Cut(arguments[denial.argument]) + "' " +
                    (key ? "key" : "channel"));
  }
  return {};
}

Status AclGenPass(ClientCall& call) {
  constexpr int64_t kMostBits = 4096;
  constexpr int64_t kUsualBits = 256;
  constexpr int64_t kBitsOfDigit = 4;
  if (call.arguments.size() > 3) return TooManyWords(call.arguments);
  int64_t bits = kUsualBits;
  if (call.arguments.size() == 3) {
    KVARTS_TRY(bits, IntegerOf(call.arguments[2]));
  }
  if (bits <= 0 || bits > kMostBits) {
    return Wrong(
        "ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096");
  }
  const auto digits = static_cast<size_t>((bits + kBitsOfDigit - 1) / kBitsOfDigit);
  Bytes password = RandomBytes(digits);
  for (char& c : password) c = "0123456789abcdef"[static_cast<unsigned char>(c) % 16];
  call.reply.Bulk(password);
  return {};
}

Status AclGetUser(ClientCall& call) {
  const auto user = call.service.acl->Find(call.arguments[2]);
  if (user == nullptr) {
    call.reply.Null();
    return {};
  }
  ReplyWriter& reply = call.reply;
  const std::vector<std::string_view> flags = FlagRules(*user);
  reply.Map(6).Bulk("flags").Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("passwords").Array(user->passwords().size());
  for (const Digest& password : user->passwords()) reply.Bulk(HashText(password));
  const std::span<const AclSelector> selectors = user->selectors();
  TellSelector(reply, selectors.front());
  reply.Bulk("selectors").Array(selectors.size() - 1);
  for (const AclSelector& selector : selectors.subspan(1)) TellSelector(reply.Map(3), selector);
  return {};
}

Status AclList(ClientCall& call) {
  const auto users = call.service.acl->All();
  call.reply.Array(users.size());
  for (const auto& user : users) call.reply.Bulk("user " + user->name() + " " + UserRules(*user));
  return {};
}

// Users are kept with everything else: there is no file of them.
Status AclFile(ClientCall&) {
  return Wrong(
      "This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER "
      "command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store "
      "users in the Redis configuration.");
}

Status AclLogOf(ClientCall& call) {
  constexpr int64_t kUsualCount = 10;
  if (call.arguments.size() > 3) return TooManyWords(call.arguments);
  AclLog& log = call.service.acl->log();
  int64_t count = kUsualCount;
  if (call.arguments.size() == 3 && IsWord(call.arguments[2], "RESET")) {
    log.Clear();
    call.reply.Simple("OK");
    return {};
  }
  if (call.arguments.size() == 3) {
    KVARTS_TRY(count, IntegerOf(call.arguments[2]));
  }
  constexpr double kMillis = 1000;
  const auto now = static_cast<int64_t>(call.service.clock.Now().micros / 1000);
  const std::vector<AclLog::Entry> entries = log.Latest(static_cast<size_t>(std::max<int64_t>(count, 0)));
  call.reply.Array(entries.size());
  for (const AclLog::Entry& entry : entries) {
    call.reply.Map(7).Bulk("count").Int(static_cast<int64_t>(entry.count));
    call.reply.Bulk("reason").Bulk(entry.reason).Bulk("context").Bulk(entry.context);
    call.reply.Bulk("object").Bulk(entry.object).Bulk("username").Bulk(entry.user);
    call.reply.Bulk("age-seconds").Double(static_cast<double>(now - entry.at_millis) / kMillis);
    call.reply.Bulk("client-info").Bulk(entry.client);
  }
  return {};
}

Status AclSetUser(WorkCall& call) {
  const std::string_view name = call.arguments[2];
  if (HasBlanks(name)) return Wrong("Usernames can't contain spaces or null characters");
  const Arguments words = call.arguments.subspan(3);
  const MergedRules merged = MergeRules(words);
  if (merged.unclosed) {
    return WrongWith("Unmatched parenthesis in acl selector starting at '", Cut(words[*merged.unclosed]) + "'.");
  }
  KVARTS_CHECK_OK(ChangeUser(call.service, name, merged.rules));
  EndThoseWithoutRights(call.service);
  call.reply.Simple("OK");
  return {};
}

Status AclUsers(ClientCall& call) {
  const auto users = call.service.acl->All();
  call.reply.Array(users.size());
  for (const auto& user : users) call.reply.Bulk(user->name());
  return {};
}

Status AclWhoAmI(ClientCall& call) {
  call.reply.Bulk(call.session.caller.name);
  return {};
}

}  // namespace kvarts::resp
