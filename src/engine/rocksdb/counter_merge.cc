#include "engine/rocksdb/counter_merge.h"

#include <rocksdb/merge_operator.h>

#include "engine/overlay.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

class CounterMerge final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "kvarts.counter"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::optional<Record> record;
    if (in.existing_value != nullptr) {
      record.emplace();
      BytesView value;
      if (!DecodeStored(in.existing_value->ToStringView(), &record->header, &value)) {
        // Damaged: kept as it is, so that a read of it says so.
        out->new_value = in.existing_value->ToString();
        return true;
      }
      record->value = value;
    }
    for (const rocksdb::Slice& stored : in.operand_list) {
      AddOperand operand;
      if (!AddOperand::Decode(stored.ToStringView(), &operand)) continue;
      record = AddToRecord(std::move(record), operand.delta, operand.version);
    }
    if (!record) record = AddToRecord(std::nullopt, 0, kNoVersion);
    out->new_value.assign(EncodedHeader(record->header).bytes());
    out->new_value.append(record->value);
    return true;
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> MakeCounterMerge() { return std::make_shared<CounterMerge>(); }

}  // namespace kvarts
