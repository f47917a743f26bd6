// What a read of one thing asks for by its head: in which form, and whether at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/http/call.h"

namespace kvarts::http {

struct ReadTerms {
  std::optional<std::string_view> accept;
  std::optional<std::string_view> if_match;
  std::optional<std::string_view> if_none_match;

  explicit ReadTerms(const RequestHead& head)
      : accept(Of(head, Field::kAccept)),
        if_match(Of(head, Field::kIfMatch)),
        if_none_match(Of(head, Field::kIfNoneMatch)) {}

 private:
  static std::optional<std::string_view> Of(const RequestHead& head, Field field) {
    return head.Has(field) ? std::optional(head.Get(field)) : std::nullopt;
  }
};

// Whether what is there, if anything is, has a version that If-Match takes.
Result<bool> Matches(const ReadTerms& terms, const std::optional<Record>& record);
// Answers 304 when the client has what it would be sent.
Result<bool> AnswerUnchanged(const ReadTerms& terms, const RequestInfo& info, const Cost& cost, Version version,
                             Answer& answer);

}  // namespace kvarts::http
