// CLIENT LIST and KILL: a look at all connections, each on its own loop; so a worker carries them out.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/lower_case.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/client_facts.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {
namespace {

// Of clients by their kind: none is a primary or a replica.
struct Type {
  std::string_view name;
  std::optional<ClientClass> of;
};
constexpr Type kTypes[] = {
    {"master", std::nullopt},           {"normal", ClientClass::kNormal}, {"pubsub", ClientClass::kPubSub},
    {"replica", ClientClass::kReplica}, {"slave", ClientClass::kReplica},
};

Result<Type> TypeOf(std::string_view word) {
  const std::string lower = LowerCase(word);
  const auto found = std::ranges::find(kTypes, std::string_view(lower), &Type::name);
  if (found == std::end(kTypes)) return WrongWith("Unknown client type ", "'" + std::string(word) + "'");
  return *found;
}

// Which clients KILL ends.
struct Filter {
  std::optional<uint64_t> id = {};
  std::optional<Type> type = {};
  std::optional<std::string> address = {};
  std::optional<std::string> local = {};
  std::optional<std::string> user = {};
  bool spares_asker = true;

  bool Takes(const ClientFacts& client) const {
    return (!id || client.id == *id) && (!type || client.of == type->of) && (!address || client.address == *address) &&
           (!local || client.local == *local) && (!user || client.user == *user);
  }
};

Status TakeOption(const Service& service, std::string_view option, std::string_view value, Filter* filter) {
  if (IsWord(option, "ID")) {
    KVARTS_TRY(const int64_t id, IntegerOf(value, "client-id should be greater than 0"));
    if (id <= 0) return Wrong("client-id should be greater than 0");
    filter->id = static_cast<uint64_t>(id);
  } else if (IsWord(option, "TYPE")) {
    KVARTS_TRY(filter->type, TypeOf(value));
  } else if (IsWord(option, "ADDR")) {
    filter->address = value;
  } else if (IsWord(option, "LADDR")) {
    filter->local = value;
  } else if (IsWord(option, "USER")) {
    if (service.acl->Find(value) == nullptr) return WrongWith("No such user ", "'" + std::string(value) + "'");
    filter->user = value;
  } else if (IsWord(option, "SKIPME")) {
    filter->spares_asker = IsWord(value, "YES");
    if (!filter->spares_asker && !IsWord(value, "NO")) return Wrong(kSyntaxError);
  } else {
    return Wrong(kSyntaxError);
  }
  return {};
}

// An address alone, or pairs of what and which.
Result<Filter> FilterOf(const Service& service, Arguments arguments) {
  Filter filter;
  if (arguments.size() == 3) {
    filter.address = arguments[2];
    filter.spares_asker = false;
    return filter;
  }
  for (size_t i = 2; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return Wrong(kSyntaxError);
    KVARTS_CHECK_OK(TakeOption(service, arguments[i], arguments[i + 1], &filter));
  }
  return filter;
}

std::vector<std::shared_ptr<Client>> AllOrOne(const Clients& clients, std::optional<uint64_t> id) {
  if (!id) return clients.All();
  auto client = clients.Find(*id);
  if (client == nullptr) return {};
  return {std::move(client)};
}

// What is asked for: those of a type, or some by their numbers, in that order and as often.
struct Listed {
  std::optional<Type> type = {};
  std::optional<std::vector<uint64_t>> ids = {};
};

Result<Listed> ListedOf(Arguments arguments) {
  Listed listed;
  const size_t size = arguments.size();
  if (size == 4 && IsWord(arguments[2], "TYPE")) {
    KVARTS_TRY(listed.type, TypeOf(arguments[3]));
  } else if (size > 3 && IsWord(arguments[2], "ID")) {
    listed.ids.emplace();
    for (const std::string_view argument : arguments.subspan(3)) {
      KVARTS_TRY(const int64_t id, IntegerOf(argument, "Invalid client ID"));
      listed.ids->push_back(static_cast<uint64_t>(id));
    }
  } else if (size != 2) {
    return Wrong(kSyntaxError);
  }
  return listed;
}

}  // namespace

Status ClientList(WorkCall& call) {
  KVARTS_TRY(const Listed listed, ListedOf(call.arguments));
  Clients& clients = call.service.clients;
  std::vector<std::shared_ptr<Client>> asked;
  if (listed.ids) {
    for (const uint64_t id : std::set<uint64_t>(listed.ids->begin(), listed.ids->end())) {
      if (auto client = clients.Find(id)) asked.push_back(std::move(client));
    }
  } else {
    asked = clients.All();
  }
  std::map<uint64_t, std::string> lines;
  clients.Visit(asked, [&](Client::Owner& client) {
    const ClientFacts facts = client.Facts();
    if (!listed.type || facts.of == listed.type->of) lines[facts.id] = facts.Line() + "\n";
  });
  std::string text;
  if (listed.ids) {
    for (const uint64_t id : *listed.ids) {
      if (const auto found = lines.find(id); found != lines.end()) text += found->second;
    }
  } else {
    for (const auto& [id, line] : lines) text += line;
  }
  call.reply.Verbatim("txt", text);
  return {};
}

Status ClientKill(WorkCall& call) {
  KVARTS_TRY(const Filter filter, FilterOf(call.service, call.arguments));
  size_t killed = 0;
  call.service.clients.Visit(AllOrOne(call.service.clients, filter.id), [&](Client::Owner& client) {
    const ClientFacts facts = client.Facts();
    const bool asks = facts.id == call.client;
    if (!filter.Takes(facts) || (asks && filter.spares_asker)) return;
    client.Kill(asks);
    ++killed;
  });
  if (call.arguments.size() > 3) {
    call.reply.Int(static_cast<int64_t>(killed));
  } else if (killed == 0) {
    return Wrong("No such client");
  } else {
    call.reply.Simple("OK");
  }
  return {};
}

}  // namespace kvarts::resp
