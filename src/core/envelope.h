// The envelope: what every governed value says about itself, around its payload.
//
// Which type and which schema the payload has, whose it is, and who wrote it, in which trace and by which command. When
// and in which order it was written is the record's own version, so `version` and `updatedAt` cost nothing and cannot
// be forged; the entity's id is its key. The bytes are in FORMAT.md. A record of the kind kEnvelope carries the schema
// version in its header too, so that old ones are found without being decoded.
#pragma once

#include <cassert>
#include <string>
#include <string_view>

#include "core/txn.h"
#include "engine/record.h"

namespace kvarts {

// An envelope where it lies.
struct EnvelopeView {
  // Of each text; longer ones are refused, when writing and when reading.
  static constexpr size_t kMaxTextBytes = 1024;

  uint32_t schema = 0;
  std::string_view type = {};
  std::string_view tenant = {};
  std::string_view actor = {};
  std::string_view trace = {};
  std::string_view command = {};
  BytesView payload = {};

  // `too_large` when a text is too long.
  Result<Bytes> Encode() const;
  // Into a view that says nothing yet. Any bytes are a whole envelope or `corruption`; then it is of no use.
  Status Read(BytesView bytes) {
    assert(schema == 0 && type.empty() && tenant.empty() && actor.empty() && trace.empty() && command.empty() &&
           payload.empty());
    // Most say nothing but their schema, which is a small number.
    constexpr size_t kShortHead = 3;
    if (bytes.size() >= kShortHead && bytes[0] == kFormat && bytes[1] == 0 && static_cast<uint8_t>(bytes[2]) < 0x80)
        [[likely]] {
      schema = static_cast<uint8_t>(bytes[2]);
      payload = bytes.substr(kShortHead);
      return {};
    }
    return ReadWhole(bytes);
  }

 private:
  static constexpr uint8_t kFormat = 1;
  Status ReadWhole(BytesView bytes);
};

struct Envelope {
  uint32_t schema = 0;  // the schema version of the payload
  std::string type;     // what it is: "case.current"
  std::string tenant;   // whose it is
  std::string actor;    // who wrote it
  std::string trace;    // in which trace
  std::string command;  // by which command
  Bytes payload;

  EnvelopeView view() const { return {schema, type, tenant, actor, trace, command, payload}; }
  Result<Bytes> Encode() const { return view().Encode(); }
  static Result<Envelope> Decode(BytesView bytes);

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

// An envelope as it is stored, with what its record adds.
struct StoredEnvelope {
  Envelope envelope;
  Version version;
  Timestamp updated_at;
};

// `invalid_argument` when the record is of another kind; `corruption` when its bytes are none, or contradict its
// header.
Result<StoredEnvelope> OpenEnvelope(const Record& record);

// Puts it under the key, in the name of the transaction's context where the envelope does not say.
Status PutEnvelope(Txn& txn, BytesView key, Envelope envelope, Timestamp expiry = kNever);

}  // namespace kvarts
