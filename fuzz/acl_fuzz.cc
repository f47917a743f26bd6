// Any words are refused as the rules of a user, or make one that is made again by what is told of it and by what is
// stored; what is refused changes nothing. Any bytes are refused as a user's record, or are exactly what encoding the
// decoded user gives. Whatever its rules are, a user who may run a command may run it on each of its keys alone.
// links: kvarts_protocol_resp
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/resp/acl_check.h"
#include "protocol/resp/acl_text.h"
#include "protocol/resp/command_table.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject
using resp::AclUser;

void TryRecord(BytesView bytes) {
  const auto decoded = UserRecord::Decode(bytes);
  if (!decoded.has_value()) {
    Expect(decoded.error().code() == ErrorCode::kCorruption, "a bad user is corruption");
    return;
  }
  const auto encoded = decoded->Encode();
  Expect(encoded.has_value() && *encoded == bytes, "what decodes encodes to the same bytes");
  const AclUser user = AclUser::Of(*decoded);
  (void)resp::UserRules(user);
}

void CheckCommands(const AclUser& user, std::string_view key) {
  const std::string_view words[] = {"mget", key, "a", "b"};
  const resp::Command& command = *resp::FindCommand("mget");
  // Some may be allowed for their first argument.
  for (const resp::AclSelector& selector : user.selectors()) {
    if (!selector.first_arguments().empty()) return;
  }
  if (resp::CheckAcl(user, command, words)) return;
  for (const std::string_view one : {key, std::string_view("a"), std::string_view("b")}) {
    const std::string_view alone[] = {"mget", one};
    Expect(!resp::CheckAcl(user, command, alone), "a right over several keys is one over each");
  }
}

// A rule in each line.
void TryRules(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  AclUser user("fuzz", std::string(UserRecord::kIdBytes, '0'));
  for (const std::string& rule : resp::MergeRules(words).rules) {
    AclUser changed = user;
    if (changed.Set(rule) == nullptr) {
      user = std::move(changed);
    } else {
      Expect(resp::UserRules(changed) == resp::UserRules(user), "what is refused changes nothing");
    }
  }
  const auto stored = user.ToRecord().Encode();
  if (!stored.has_value()) return;
  const AclUser again = AclUser::Of(UserRecord::Decode(*stored).value());
  Expect(resp::UserRules(again) == resp::UserRules(user), "a user is made again of its record");
  for (size_t i = 0; i < user.selectors().size(); ++i) {
    Expect(again.selectors()[i].commands() == user.selectors()[i].commands(), "with the same commands");
  }
  CheckCommands(user, words.empty() ? "" : words[0]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  TryRecord(input);
  TryRules(input);
  return 0;
}
