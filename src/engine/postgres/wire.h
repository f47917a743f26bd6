// Values as PostgreSQL's binary format has them: parameters of a statement, and the fields of its rows.
#pragma once

#include <postgresql/libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace kvarts::postgres {

// The parameters of one statement, in their order. What is added is copied.
class Params {
 public:
  void Bool(bool value) { Raw(value ? BytesView("\1", 1) : BytesView("\0", 1)); }
  void Int4(int32_t value);
  void Int8(int64_t value);
  void OptionalInt8(std::optional<uint64_t> value);
  void Text(BytesView value) { Raw(value); }
  void Bytea(BytesView value) { Raw(value); }
  void Raw(BytesView encoded);
  void Null();

  size_t size() const { return places_.size(); }

  // As libpq wants them. Borrowed until the next change.
  struct Arrays {
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
  };
  Arrays arrays() const;

 private:
  struct Place {
    size_t at;
    int size;  // less than zero: null
  };
  Bytes buffer_;
  std::vector<Place> places_;
};

// An array of one dimension that is being written.
class ArrayParam {
 public:
  enum class Of : uint32_t { kBytea = 17, kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25 };

  explicit ArrayParam(Of of);

  void Int2(int16_t value);
  void Int4(int32_t value);
  void Int8(int64_t value);
  void Bytes(BytesView value);
  void Null();
  int32_t size() const { return size_; }

  void AddTo(Params* params);

 private:
  kvarts::Bytes buffer_;
  int32_t size_ = 0;
  bool has_null_ = false;
};

// What a statement answered. Fields are in the binary format.
class Rows {
 public:
  Rows() = default;
  explicit Rows(PGresult* result) : result_(result) {}

  const PGresult* raw() const { return result_.get(); }
  int size() const { return result_ ? PQntuples(result_.get()) : 0; }
  bool IsNull(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  BytesView Bytea(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<size_t>(PQgetlength(result_.get(), row, column))};
  }
  BytesView Text(int row, int column) const { return Bytea(row, column); }
  int16_t Int2(int row, int column) const { return Number<int16_t>(row, column); }
  int32_t Int4(int row, int column) const { return Number<int32_t>(row, column); }
  int64_t Int8(int row, int column) const { return Number<int64_t>(row, column); }
  bool Bool(int row, int column) const { return *PQgetvalue(result_.get(), row, column) != 0; }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  template <class Integer>
  Integer Number(int row, int column) const {
    return static_cast<Integer>(LoadBig<std::make_unsigned_t<Integer>>(PQgetvalue(result_.get(), row, column)));
  }

  std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace kvarts::postgres
