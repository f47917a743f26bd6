#include "core/envelope.h"

#include "core/fields.h"

namespace kvarts {
namespace {

// The texts in the order in which they are written; bit i of the flags says whether text i is there.
using Text = std::string_view EnvelopeView::*;
constexpr Text kTexts[] = {&EnvelopeView::type, &EnvelopeView::tenant, &EnvelopeView::actor, &EnvelopeView::trace,
                           &EnvelopeView::command};
constexpr const char* kTextNames[] = {"type", "tenant", "actor", "trace", "command"};
constexpr size_t kTextCount = std::size(kTexts);
constexpr uint8_t kAllTexts = (1 << kTextCount) - 1;

}  // namespace

Result<Bytes> EnvelopeView::Encode() const {
  unsigned flags = 0;
  for (size_t i = 0; i < kTextCount; ++i) {
    const std::string_view text = this->*kTexts[i];
    if (!text.empty()) flags |= 1u << i;
    if (text.size() > kMaxTextBytes) {
      return Error(ErrorCode::kTooLarge, "a text of the envelope is too long",
                   {{"field", kTextNames[i]},
                    {"limit", "max_envelope_text_bytes"},
                    {"at_most", std::to_string(kMaxTextBytes)},
                    {"is", std::to_string(text.size())}});
    }
  }
  Bytes bytes;
  bytes.reserve(16 + actor.size() + trace.size() + command.size() + payload.size());
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(flags));
  AppendVarint(&bytes, schema);
  for (const Text text : kTexts) {
    if (!(this->*text).empty()) AppendSized(&bytes, this->*text);
  }
  return bytes += payload;
}

Status EnvelopeView::ReadWhole(BytesView bytes) {
  FieldReader fields(bytes);
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  const uint8_t flags = fields.Byte(kAllTexts);
  schema = static_cast<uint32_t>(fields.Varint(UINT32_MAX));
  for (size_t i = 0; i < kTextCount; ++i) {
    if ((flags >> i & 1) == 0) continue;
    this->*kTexts[i] = fields.Sized(kMaxTextBytes);
    fields.Require(!(this->*kTexts[i]).empty(), "a text that is there and empty");
  }
  payload = fields.Rest();
  return fields.Finish("the envelope is damaged");
}

Result<Envelope> Envelope::Decode(BytesView bytes) {
  EnvelopeView view;
  KVARTS_CHECK_OK(view.Read(bytes));
  return Envelope{view.schema,
                  std::string(view.type),
                  std::string(view.tenant),
                  std::string(view.actor),
                  std::string(view.trace),
                  std::string(view.command),
                  Bytes(view.payload)};
}

Result<StoredEnvelope> OpenEnvelope(const Record& record) {
  if (record.header.kind != ValueKind::kEnvelope) {
    return Error(ErrorCode::kInvalidArgument, "the value is not an envelope");
  }
  KVARTS_TRY(Envelope envelope, Envelope::Decode(record.value));
  if (envelope.schema != record.header.schema) {
    return Error(
        ErrorCode::kCorruption, "the envelope contradicts its header",
        {{"schema", std::to_string(envelope.schema)}, {"header_schema", std::to_string(record.header.schema)}});
  }
  return StoredEnvelope{std::move(envelope), record.header.version, record.header.version.time()};
}

Status PutEnvelope(Txn& txn, BytesView key, Envelope envelope, Timestamp expiry) {
  const Context& context = txn.context();
  if (envelope.actor.empty()) envelope.actor = context.actor;
  if (envelope.trace.empty()) envelope.trace = context.trace;
  if (envelope.command.empty()) envelope.command = context.command;
  KVARTS_TRY(const Bytes bytes, envelope.Encode());
  PutOptions options;
  options.expiry = expiry;
  options.kind = ValueKind::kEnvelope;
  options.schema = envelope.schema;
  txn.Put(key, bytes, options);
  return {};
}

}  // namespace kvarts
