// A store that is opened past its server, to do damage to its tables below the model: nothing else changes with it. Of
// a data directory while no server has it; of a database, at any time.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "cli/place.h"
#include "core/store.h"
#include "encoding/document_json.h"
#include "model/table/row.h"
#include "model/table/rows.h"
#include "model/table/tables.h"

namespace kvarts::test {

// Throws when something is not there.
class BelowModel {
 public:
  explicit BelowModel(const cli::Place& place)
      : engine_(Must(cli::OpenPlace(place))),
        store_(Must(Store::Open(*engine_))),
        tables_(Must(Tables::Open(*store_))) {}

  // An engine may tell its store of what others do as long as it is open.
  ~BelowModel() {
    tables_.reset();
    store_->Stop();
    engine_.reset();
  }
  BelowModel(const BelowModel&) = delete;
  BelowModel& operator=(const BelowModel&) = delete;

  TablePtr Table(const TablePath& path) { return Must(tables_->Find(path)); }
  // The key of the first entry of an index.
  Bytes FirstEntry(const TablePath& path, std::string_view index) {
    const std::unique_ptr<View> view = Must(engine_->OpenView());
    ScanRequest request;
    request.range = KeyRange::Prefix(Table(path)->IndexNamed(index)->prefix);
    request.max_entries = 1;
    return Bytes(Must(view->Scan(request))[0].key);
  }

  void Erase(BytesView key) {
    Run([&](Txn& txn) { txn.Erase(key); });
  }
  // A row as JSON, without its entries; and by the fields of its key.
  void PutRow(const TablePath& path, std::string_view json) {
    const Bytes row = Must(DocumentFromJson(json));
    const KeyBuffer key = Must(RowKey(*Table(path), DocumentView(row)));
    const Bytes stored = Must(EncodeRow({}, 0, DocumentView(row)));
    Run([&](Txn& txn) { txn.Put(key, stored, {.kind = ValueKind::kEnvelope}); });
  }
  void EraseRow(const TablePath& path, std::string_view key_json) {
    const Bytes key = Must(DocumentFromJson(key_json));
    Erase(Must(RowKeyOf(*Table(path), DocumentView(key))));
  }
  // Bytes that are no row, in the place of one.
  void PutDamaged(const TablePath& path, std::string_view key_json) {
    const Bytes key = Must(DocumentFromJson(key_json));
    const KeyBuffer row_key = Must(RowKeyOf(*Table(path), DocumentView(key)));
    Run([&](Txn& txn) { txn.Put(row_key, "\xff garbage", {.kind = ValueKind::kEnvelope}); });
  }

 private:
  template <class T>
  static T Must(Result<T> result) {
    if (!result.has_value()) throw std::runtime_error(result.error().ToString());
    return *std::move(result);
  }
  void Run(const std::function<void(Txn&)>& change) {
    const auto ran = store_->RunBody([&](Txn& txn) -> Status {
      change(txn);
      return {};
    });
    if (!ran.has_value()) throw std::runtime_error(ran.error().ToString());
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace kvarts::test
