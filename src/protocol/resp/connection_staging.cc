// Of connections: commands that are large. What they hold is counted, and what does not fit into one commit is written
// beforehand.
#include <algorithm>

#include "protocol/common/await.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/connection.h"
#include "protocol/resp/errors.h"

namespace kvarts::resp {
namespace {

// What a connection holds without its being counted.
constexpr uint64_t kHeldFreely = 64 << 10;

}  // namespace

bool Connection::Hold() {
  const uint64_t bytes = stream_.input().size() + session_.queue.bytes();
  if (bytes < kHeldFreely) {
    held_input_.Release();
    return true;
  }
  if (bytes <= held_input_.bytes()) return true;
  if (held_input_.Add(bytes - held_input_.bytes())) return true;
  AnswerError("ERR all clients together hold too much, limit=redis.max_held_bytes");
  stream_.Consume(stream_.input().size());
  session_.ending = true;
  return false;
}

bool Connection::MustStage(Arguments arguments) const {
  if (arguments.size() < 3 || stream_.input().size() <= service_.options.staged_bytes) return false;
  const Found found = FindCommand(arguments);
  if (found.command == nullptr || !found.command->Is(kStages) || WhyNot(found, arguments)) return false;
  return std::ranges::any_of(arguments.subspan(2), [this](std::string_view argument) {
    return argument.size() > service_.options.staged_bytes;
  });
}

// The input stays where it is meanwhile, and is taken when all is written.
net::Task<> Connection::StageAndTake() {
  stream_.Keep();
  const CommandParser::Limits limits{service_.settings[Number::kMaxBulkBytes], MustAuthenticate(service_, session_)};
  // It is parsed again where it lies now.
  if (parser_.Parse(stream_.input(), limits) != CommandParser::State::kCommand) {
    session_.ending = true;
    co_return;
  }
  std::vector<std::string_view> arguments(parser_.arguments().begin(), parser_.arguments().end());
  std::vector<StagedArgument> staged;
  Status written;
  for (size_t i = 2; i < arguments.size() && written.has_value(); ++i) {
    if (arguments[i].size() <= service_.options.staged_bytes) continue;
    staged.push_back({i, {}});
    written = co_await Stage(arguments[i], &staged.back().text);
    arguments[i] = {};
  }
  if (written.has_value()) {
    Take(arguments, staged);
  } else {
    Refuse(FindCommand(arguments[0]), ErrorReply(written.error()));
  }
  stream_.Consume(parser_.consumed());
}

net::Task<Status> Connection::Stage(std::string_view argument, structure::StagedText* text) {
  for (size_t at = 0; at < argument.size(); at += structure::StagedText::kPartBytes) {
    const std::string_view part = argument.substr(at, structure::StagedText::kPartBytes);
    structure::StagedText staged = *text;
    Store::Request request;
    request.body = [this, part, at, &staged](Txn& txn) {
      return structure::StagePart(txn, service_.databases.collections(), part, at == 0, &staged);
    };
    request.options.durability = session_.durability.value_or(service_.settings.durability());
    std::vector<Store::Request> requests;
    requests.push_back(std::move(request));
    const auto outcomes = co_await RunAll(stream_.loop(), service_.store, std::move(requests));
    if (!outcomes[0].has_value()) co_return outcomes[0].error();
    *text = {staged.id, staged.size + part.size()};
  }
  co_return Status();
}

}  // namespace kvarts::resp
