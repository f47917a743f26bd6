#include "protocol/resp/acl_names.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {
namespace {

struct Unbuilt {
  std::string_view name;
  uint32_t categories;
};

constexpr uint32_t kAdministers = kAdmins | kSlow | kDangerous;

// What Redis 7.0 has, and the tables of commands may not; what they have counts.
constexpr Unbuilt kUnbuilt[] = {
    {"asking", kQuick | kConnection},
    {"client|caching", kSlow | kConnection},
    {"client|tracking", kSlow | kConnection},
    {"client|trackinginfo", kSlow | kConnection},
    {"eval", kSlow | kScripting},
    {"eval_ro", kSlow | kScripting},
    {"evalsha", kSlow | kScripting},
    {"evalsha_ro", kSlow | kScripting},
    {"fcall", kSlow | kScripting},
    {"fcall_ro", kSlow | kScripting},
    {"function", kSlow},
    {"function|delete", kWrites | kSlow | kScripting},
    {"function|dump", kSlow | kScripting},
    {"function|flush", kWrites | kSlow | kScripting},
    {"function|help", kSlow | kScripting},
    {"function|kill", kSlow | kScripting},
    {"function|list", kSlow | kScripting},
    {"function|load", kWrites | kSlow | kScripting},
    {"function|restore", kWrites | kSlow | kScripting},
    {"function|stats", kSlow | kScripting},
    {"geoadd", kWrites | kGeo | kSlow},
    {"geodist", kRead | kGeo | kSlow},
    {"geohash", kRead | kGeo | kSlow},
    {"geopos", kRead | kGeo | kSlow},
    {"georadius", kWrites | kGeo | kSlow},
    {"georadius_ro", kRead | kGeo | kSlow},
    {"georadiusbymember", kWrites | kGeo | kSlow},
    {"georadiusbymember_ro", kRead | kGeo | kSlow},
    {"geosearch", kRead | kGeo | kSlow},
    {"geosearchstore", kWrites | kGeo | kSlow},
    {"migrate", kKeyspace | kWrites | kSlow | kDangerous},
    {"module", kSlow},
    {"module|help", kSlow},
    {"module|list", kAdministers},
    {"module|load", kAdministers},
    {"module|loadex", kAdministers},
    {"module|unload", kAdministers},
    {"monitor", kAdministers},
    {"pfadd", kWrites | kHyperLogLog | kQuick},
    {"pfcount", kRead | kHyperLogLog | kSlow},
    {"pfdebug", kWrites | kHyperLogLog | kAdministers},
    {"pfmerge", kWrites | kHyperLogLog | kSlow},
    {"pfselftest", kHyperLogLog | kAdministers},
    {"psync", kAdministers},
    {"replconf", kAdministers},
    {"restore-asking", kKeyspace | kWrites | kSlow | kDangerous},
    {"script", kSlow},
    {"script|debug", kSlow | kScripting},
    {"script|exists", kSlow | kScripting},
    {"script|flush", kSlow | kScripting},
    {"script|help", kSlow | kScripting},
    {"script|kill", kSlow | kScripting},
    {"script|load", kSlow | kScripting},
    {"sync", kAdministers},
    {"xack", kWrites | kStream | kQuick},
    {"xadd", kWrites | kStream | kQuick},
    {"xautoclaim", kWrites | kStream | kQuick},
    {"xclaim", kWrites | kStream | kQuick},
    {"xdel", kWrites | kStream | kQuick},
    {"xgroup", kSlow},
    {"xgroup|create", kWrites | kStream | kSlow},
    {"xgroup|createconsumer", kWrites | kStream | kSlow},
    {"xgroup|delconsumer", kWrites | kStream | kSlow},
    {"xgroup|destroy", kWrites | kStream | kSlow},
    {"xgroup|help", kStream | kSlow},
    {"xgroup|setid", kWrites | kStream | kSlow},
    {"xinfo", kSlow},
    {"xinfo|consumers", kRead | kStream | kSlow},
    {"xinfo|groups", kRead | kStream | kSlow},
    {"xinfo|help", kStream | kSlow},
    {"xinfo|stream", kRead | kStream | kSlow},
    {"xlen", kRead | kStream | kQuick},
    {"xpending", kRead | kStream | kSlow},
    {"xrange", kRead | kStream | kSlow},
    {"xread", kRead | kStream | kSlow | kBlocks},
    {"xreadgroup", kWrites | kStream | kSlow | kBlocks},
    {"xrevrange", kRead | kStream | kSlow},
    {"xsetid", kWrites | kStream | kQuick},
    {"xtrim", kWrites | kStream | kSlow},
};

// What stands before the dot of a version, and behind it, as one number.
int NumberOfVersion(std::string_view version) {
  int parts[2] = {0, 0};
  size_t part = 0;
  for (const char c : version) {
    if (c == '.' && ++part == std::size(parts)) break;
    if (c != '.') parts[part] = parts[part] * 10 + (c - '0');
  }
  return parts[0] * 1000 + parts[1];
}

bool IsOfRedis(std::string_view name) {
  const CommandDoc* doc = DocOf(name);
  return doc != nullptr && !doc->since.empty() && NumberOfVersion(doc->since) <= NumberOfVersion("7.0");
}

struct Names {
  Names() {
    std::map<std::string_view, uint32_t> categories;
    for (const Unbuilt& one : kUnbuilt) categories.emplace(one.name, one.categories);
    for (const Command& one : AllCommands()) categories.insert_or_assign(one.name, one.categories);
    for (const Command& one : AllSubcommands()) {
      // Those that nothing tells of are arguments for Redis.
      if (DocOf(one.name) != nullptr) categories.insert_or_assign(one.name, one.categories);
    }
    assert(categories.size() <= kMaxAclNames);
    for (const auto& [name, of] : categories) {
      all.push_back({name, of, IsOfRedis(name), name.contains('|')});
    }
    for (AclName& one : all) FindSubcommands(&one);
    numbers.resize(CommandCount());
    const auto number = [&](const Command& one) {
      const auto own = Find(one.name);
      numbers[NumberOf(one)] = own ? *own : *Find(one.name.substr(0, one.name.find('|')));
    };
    for (const Command& one : AllCommands()) number(one);
    for (const Command& one : AllSubcommands()) number(one);
  }

  std::optional<uint16_t> Find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(all, name, {}, &AclName::name);
    if (found == all.end() || found->name != name) return std::nullopt;
    return static_cast<uint16_t>(found - all.begin());
  }
  // They lie beside each other: no other name has their beginning.
  void FindSubcommands(AclName* container) {
    if (container->has_parent) return;
    const std::string begins = std::string(container->name) + "|";
    const auto first = std::ranges::lower_bound(all, std::string_view(begins), {}, &AclName::name);
    const auto belongs = [&](const AclName& one) { return one.name.starts_with(begins); };
    container->first_sub = static_cast<uint16_t>(first - all.begin());
    container->subcommands = static_cast<uint16_t>(std::find_if_not(first, all.end(), belongs) - first);
  }

  std::vector<AclName> all;
  std::vector<uint16_t> numbers;  // by that of the command
};

const Names& Known() {
  static const Names kNames;
  return kNames;
}

}  // namespace

std::span<const AclName> AllAclNames() { return Known().all; }

std::optional<uint16_t> FindAclName(std::string_view name) { return Known().Find(AsciiLower(name)); }

uint16_t AclNumberOf(const Command& command) { return Known().numbers[NumberOf(command)]; }

std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

}  // namespace kvarts::resp
