// Errors as a line for a person: the constant text, then the facts that vary.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace kvarts::cli {

// "there is no such option: --valeus; did you mean --values?"
std::string ErrorText(const Error& error);

// What can be done about it, where the text does not say so itself; else empty.
std::string_view ErrorAdvice(const Error& error);

}  // namespace kvarts::cli
