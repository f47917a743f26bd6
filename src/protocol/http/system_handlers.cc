// The server itself: whether it lives, whether it is ready, what it can be asked for.
#include "protocol/http/handlers.h"
#include "protocol/http/openapi.h"

namespace kvarts::http {
namespace {

Status AnswerText(Call& call, int status, std::string_view text) {
  ResponseWriter& head = call.answer.Begin(status, {});
  head.ContentType("text/plain");
  head.body()->append(text);
  call.answer.Finish();
  return {};
}

}  // namespace

Status Live(Call& call) { return AnswerText(call, 200, "alive\n"); }

Status Ready(Call& call) {
  if (!call.service.ready.load()) {
    return Error(ErrorCode::kUnavailable, "the server is starting or stopping");
  }
  const Health health = call.service.engine().health();
  if (!health.writable) {
    return Error(ErrorCode::kUnavailable, "the store takes no writes", {{"cause", health.reason}});
  }
  return AnswerText(call, 200, "ready\n");
}

Status About(Call& call) {
  ResponseWriter& head = call.answer.Begin(200, {});
  head.ContentType("application/json");
  JsonWriter json(head.body());
  json.BeginObject().Field("name", "kvarts").Field("version", KVARTS_VERSION).Field("openapi", "/openapi.json");
  json.EndObject();
  call.answer.Finish();
  return {};
}

Status OpenApi(Call& call) {
  static const Bytes document = OpenApiDocument();
  ResponseWriter& head = call.answer.Begin(200, {});
  head.ContentType("application/json");
  head.body(document.size())->append(document);
  call.answer.Finish();
  return {};
}

}  // namespace kvarts::http
