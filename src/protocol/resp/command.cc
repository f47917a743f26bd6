#include "protocol/resp/command.h"

#include <algorithm>

namespace kvarts::resp {

Status DataCall::ExpectChosen(int64_t count, uint64_t of) {
  if (count >= 0) return ExpectElements(std::min(static_cast<uint64_t>(count), of));
  constexpr uint64_t kLeastOfAnAnswer = 6;  // of an element that is empty
  const uint64_t chosen = static_cast<uint64_t>(-(count + 1)) + 1;
  KVARTS_CHECK_OK(ExpectElements(chosen));
  return ExpectAnswer(std::min(chosen, UINT64_MAX / (2 * kLeastOfAnAnswer)) * kLeastOfAnAnswer);
}

Status DataCall::ExpectStored(uint64_t count) const {
  const size_t at_most = keys.txn().limits().max_commit_operations;
  if (count <= at_most) return {};
  return Error(
      ErrorCode::kTooLarge, "a commit does not hold so many elements",
      {{"limit", "max_commit_operations"}, {"is", std::to_string(count)}, {"at_most", std::to_string(at_most)}});
}

}  // namespace kvarts::resp
