#include "protocol/resp/runner.h"

#include <charconv>

#include "base/base64.h"
#include "base/utf8.h"
#include "encoding/json_writer.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/errors.h"

namespace kvarts::resp {
namespace {

// Of an answer in version 2 of the protocol, which we have written ourselves, one value as JSON.
class AnswerReader {
 public:
  AnswerReader(BytesView answer, JsonWriter& json) : left_(answer), json_(json) {}

  void Value() {
    const BytesView line = Line();
    const BytesView rest = line.substr(1);
    switch (line[0]) {
      case ':':
        json_.Raw(rest);
        break;
      case '$':
        Bulk(NumberOf(rest));
        break;
      case '*':
        Elements(NumberOf(rest));
        break;
      default:
        Text(rest);
    }
  }

 private:
  BytesView Line() {
    const size_t end = left_.find('\r');
    const BytesView line = left_.substr(0, end);
    left_.remove_prefix(end + 2);
    return line;
  }
  static int64_t NumberOf(BytesView digits) {
    int64_t number = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }
  void Text(BytesView text) {
    if (IsUtf8(text)) {
      json_.Text(text);
    } else {
      json_.BeginObject().Field("base64", ToBase64(text)).EndObject();
    }
  }
  void Bulk(int64_t size) {
    if (size < 0) {
      json_.Null();
      return;
    }
    Text(left_.substr(0, static_cast<size_t>(size)));
    left_.remove_prefix(static_cast<size_t>(size) + 2);
  }
  void Elements(int64_t count) {
    if (count < 0) {
      json_.Null();
      return;
    }
    json_.BeginArray();
    for (; count > 0; --count) Value();
    json_.EndArray();
  }

  BytesView left_;
  JsonWriter& json_;
};

}  // namespace

Status Runner::Check(const RedisCommand& command) const {
  if (command.database >= structure::kDatabases) return Wrong("DB index is out of range");
  const Command* known = command.words.empty() ? nullptr : FindCommand(command.words[0]);
  if (known == nullptr || !std::holds_alternative<DataHandler>(known->handler)) {
    return Wrong("a commit takes only commands of Redis that work on data");
  }
  if (known->Is(kLong)) return Wrong("a commit takes no command of Redis that may look through much");
  if (!known->Takes(command.words.size())) return Wrong("the command has another number of arguments");
  return {};
}

Status Runner::Run(Txn& txn, const std::vector<RedisCommand>& commands, std::vector<Bytes>* answers, size_t* failed) {
  answers->assign(commands.size(), {});
  structure::Structures keys(txn, service_.databases);
  keys.set_max_text_bytes(static_cast<uint64_t>(service_.settings[Number::kMaxBulkBytes]));
  HeldBytes held(service_.held_bytes, service_.options.max_held_bytes);
  Room room(held, false, false);
  Bytes answer;
  for (size_t i = 0; i < commands.size(); ++i) {
    *failed = i;
    const std::vector<std::string_view> words(commands[i].words.begin(), commands[i].words.end());
    answer.clear();
    ReplyWriter reply(&answer, 2);
    DataCall call{words, commands[i].database, keys, reply, service_, room};
    const Status ran = std::get<DataHandler>(FindCommand(words[0])->handler)(call);
    if (!ran.has_value() && ran.error().text() == kNeedsWorker) {
      return Error(ErrorCode::kTooLarge, "what a command of Redis reads is too large for a commit",
                   {{"at_most", std::to_string(Room::kLittle)}});
    }
    KVARTS_CHECK_OK(ran);
    KVARTS_CHECK_OK(room.ExpectAnswers(answer.size()));
    JsonWriter json(&(*answers)[i]);
    AnswerReader(answer, json).Value();
  }
  keys.Flush();
  return {};
}

}  // namespace kvarts::resp
