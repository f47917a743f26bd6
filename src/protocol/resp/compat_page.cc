#include "protocol/resp/compat_page.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_names.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {
namespace {

struct Remark {
  std::string_view name;
  std::string_view text;
};

// How what is built differs; of what is not built, why. In their order. What differs for many commands alike is told by
// the page.
constexpr Remark kRemarks[] = {
    {"acl|cat", "names those that are built"},
    {"acl|getuser", "single commands in the order of their names"},
    {"acl|list", "single commands in the order of their names"},
    {"acl|load", "refused, as by Redis without a file of users: they are kept with the data"},
    {"acl|save", "refused, as by Redis without a file of users: they are kept with the data"},
    {"acl|setuser", "what it changes is on disk when it is answered"},
    {"asking", "there are no slots here"},
    {"auth", "a token that may do everything is a password of `default`, too"},
    {"bgrewriteaof", "does what BGSAVE does: there is no log of commands to rewrite"},
    {"bgsave", "has all that was acknowledged on disk; there are no snapshots"},
    {"client|list", "what Redis tells of how its buffers are kept is 0"},
    {"client|no-evict", "is noted: nobody is evicted"},
    {"client|pause", "keys expire meanwhile"},
    {"client|setinfo", "of Redis 7.2"},
    {"client|tracking", "every change is told, also one by SWAPDB or by HTTP; see below"},
    {"cluster", "answers as a server that is no cluster, whatever is asked"},
    {"command|docs", "without arguments and history"},
    {"config|get", "of the parameters, those that mean something here"},
    {"config|rewrite", "refused: the configuration is a file of whoever runs the server"},
    {"config|set", "what is told but cannot be otherwise is refused, unless it is set to what it is"},
    {"dbsize", "counts keys that have expired until they are taken away"},
    {"debug", "OBJECT, SET-ACTIVE-EXPIRE and SLEEP, where `redis.debug_commands` allows it; other clients go on"},
    {"hello", "AUTH as of the command; between MULTI and EXEC it holds for what comes behind them"},
    {"info", "figures that are not kept are left out; `expires` and `avg_ttl` are 0"},
    {"lastsave", "when SAVE or BGSAVE was done last, else when the server began"},
    {"latency|doctor", "in other words, and shorter"},
    {"latency|graph", "in one line"},
    {"latency|history", "of `command` and `fast-command`; there are no other kinds"},
    {"lolwut", "draws a wave"},
    {"memory|doctor", "in other words, and shorter"},
    {"memory|stats", "of this process and its engine"},
    {"memory|usage", "estimated: what is stored, and not what is in memory"},
    {"migrate", "Kvarts does not speak to Redis servers"},
    {"module", "there are no modules"},
    {"monitor", "nobody is told what others ask; the log of slow requests and HTTP's `/hotkeys` tell of load"},
    {"object|encoding", "what Redis would make of the value by its parameters; how it is kept is told by FORMAT.md"},
    {"object|idletime", "always 0: it is not kept"},
    {"object|refcount", "always 1"},
    {"pfdebug", "HyperLogLog comes later"},
    {"pfselftest", "HyperLogLog comes later"},
    {"psync", "replicas are those of the engine"},
    {"publish", "tells those who listen at this server, and not at others over the same PostgreSQL; see below"},
    {"randomkey", "of more than a hundred keys each may come, but not all alike"},
    {"readonly", "refused, as by every server that is no cluster"},
    {"readwrite", "refused, as by every server that is no cluster"},
    {"replconf", "replicas are those of the engine"},
    {"replicaof", "NO ONE alone: a server of Kvarts does not follow one of Redis"},
    {"restore-asking", "there are no slots here"},
    {"role", "always that of a primary without replicas: those of an engine are told by `kvarts stats`"},
    {"save", "has all that was acknowledged on disk; there are no snapshots"},
    {"scan", "in the order of names; see below"},
    {"shutdown", "as SIGTERM: what is under way is finished, and all is on disk, whether SAVE was asked for or not"},
    {"slaveof", "as REPLICAOF"},
    {"slowlog|get", "the time is that of the command itself, without that of its commit"},
    {"spublish", "tells those who listen at this server, and not at others over the same PostgreSQL; see below"},
    {"sync", "replicas are those of the engine"},
    {"wait", "answers 0 at once: choose `KVARTS DURABILITY quorum` to wait for replicas with each write"},
    {"waitaof", "of Redis 7.2. Waits for the disk of this server, and counts no replicas; the timeout is not needed"},
    {"watch", "of a key that was not there, a flush or swap of its database is a change, too"},
};
static_assert(std::ranges::is_sorted(kRemarks, {}, &Remark::name));

struct GroupReason {
  std::string_view group;
  std::string_view why_not;
};
// In the order of the page; why those of the group are not built.
constexpr GroupReason kGroups[] = {
    {"string", "not built yet"},
    {"bitmap", "not built yet"},
    {"hash", "not built yet"},
    {"list", "not built yet"},
    {"set", "not built yet"},
    {"sorted-set", "not built yet"},
    {"generic", "not built yet"},
    {"transactions", "not built yet"},
    {"pubsub", "not built yet"},
    {"connection", "not built yet"},
    {"server", "not built yet"},
    {"cluster", "one server, or several over PostgreSQL, hold all slots: there is nothing to move"},
    {"stream", "streams come later"},
    {"hyperloglog", "HyperLogLog comes later"},
    {"geo", "geographic indexes come later"},
    {"scripting", "scripts and functions come later"},
};

std::string_view RemarkOn(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRemarks, name, {}, &Remark::name);
  return found == std::end(kRemarks) || found->name != name ? std::string_view() : found->text;
}

std::string WhyNot(const CommandDoc& doc) {
  for (const std::string_view name : {doc.name, doc.name.substr(0, doc.name.find('|'))}) {
    const std::string_view remark = RemarkOn(name);
    if (!remark.empty()) return std::string(remark);
  }
  // Subcommands are told under the group of what they are of.
  return std::string(std::ranges::find(kGroups, doc.group, &GroupReason::group)->why_not);
}

void AppendRow(const CommandDoc& doc, std::string* text) {
  std::string shown = UpperCase(doc.name);
  std::ranges::replace(shown, '|', ' ');
  const bool built = FindCommand(doc.name) != nullptr;
  std::string_view remark = RemarkOn(doc.name);
  if (remark.empty() && doc.group == "cluster") remark = RemarkOn("cluster");
  const std::string_view standing = !built ? "no" : remark.empty() ? "yes" : "different";
  const bool help = doc.name.ends_with("|help");
  fmt::format_to(std::back_inserter(*text), "| {} | {} | {} | {} |\n", shown, doc.summary,
                 help && built ? "different" : standing,
                 !built ? WhyNot(doc)
                 : help ? "in other words"
                        : std::string(remark));
}

}  // namespace

std::string CompatTables() {
  std::string text;
  for (const GroupReason& group : kGroups) {
    fmt::format_to(std::back_inserter(text),
                   "{}### {}\n\n| command | what it does | is there | how it differs, or why it is not there "
                   "|\n|---|---|---|---|\n",
                   text.empty() ? "" : "\n", group.group);
    for (const CommandDoc& doc : AllDocs()) {
      if (doc.group == group.group) AppendRow(doc, &text);
    }
  }
  return text;
}

}  // namespace kvarts::resp
