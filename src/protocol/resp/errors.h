// Errors as Redis' clients know them, and the one place where ours become theirs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts::resp {

inline constexpr const char* kSyntaxError = "syntax error";

// A command cannot be carried out as it is, for this reason; a constant.
inline Error Wrong(const char* text) { return Error(ErrorCode::kInvalidArgument, text); }
// The same with something behind it that varies: "Unsupported option KEEP".
Error WrongWith(const char* text, std::string_view behind);
// "invalid expire time in 'set' command".
Error WrongExpire(std::string_view command);

// Whether it is the command's own: what stands beside it in a transaction happens nevertheless.
bool IsOfCommand(const Error& error);
// "WRONGTYPE Operation against …".
std::string ErrorReply(const Error& error);

}  // namespace kvarts::resp
