#include "engine/commit.h"

namespace kvarts {
Mutation Mutation::Put(BytesView key, BytesView value, Timestamp expiry) {
  Mutation mutation;
  mutation.key = key;
  mutation.value = value;
  mutation.expiry = expiry;
  return mutation;
}

Mutation Mutation::Erase(BytesView key) {
  Mutation mutation;
  mutation.op = Op::kErase;
  mutation.key = key;
  return mutation;
}

Mutation Mutation::EraseRange(BytesView start, BytesView end) {
  Mutation mutation;
  mutation.op = Op::kEraseRange;
  mutation.key = start;
  mutation.end = end;
  return mutation;
}

Mutation Mutation::Add(BytesView key, int64_t delta) {
  Mutation mutation;
  mutation.op = Op::kAdd;
  mutation.key = key;
  mutation.delta = delta;
  return mutation;
}

void Mutation::Stamp(Version version) {
  if (key_stamp != kNoStamp) StoreBig(key.data() + key_stamp, version.stamp);
  if (value_stamp != kNoStamp) StoreBig(value.data() + value_stamp, version.stamp);
}

}  // namespace kvarts
