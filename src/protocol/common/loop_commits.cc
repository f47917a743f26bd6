#include "protocol/common/loop_commits.h"

#include <asio/post.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace kvarts {

net::Task<Result<RunReport>> LoopCommits::Run(Store::Request request) {
  std::optional<Result<RunReport>> outcome;
  request.options.caller_lends = request.options.durability < Durability::kSync;
  auto initiate = [&](net::Resume resume) {
    // A copy can be made of a request's functions, and not of what resumes.
    auto shared = std::make_shared<net::Resume>(std::move(resume));
    request.done = [&loop = loop_, &outcome, shared](Result<RunReport> report) {
      outcome.emplace(std::move(report));
      // Not from within the commit.
      if (loop.IsHere()) return asio::post(loop.executor(), std::move(*shared));
      loop.Post(std::move(*shared));
    };
    if (waiting_.empty()) loop_.AtEndOfTurn([this] { Leave(); });
    waiting_.push_back(std::move(request));
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<net::Executor>&, void()>(std::move(initiate), net::kAwait);
  co_return *std::move(outcome);
}

void LoopCommits::Leave() { store_.RunAsync(std::exchange(waiting_, {})); }

}  // namespace kvarts
