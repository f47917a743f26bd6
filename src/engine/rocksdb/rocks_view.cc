#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

Result<std::unique_ptr<View>> RocksView::Open(RocksStore& store) {
  std::unique_ptr<RocksView> view(new RocksView(store));
  const auto begin = [&] {
    view->point_ = store.CurrentPoint();
    view->version_ = view->point_->version;
    view->time_ = std::max(store.Now(), view->version_.time());
    view->registered_ = true;
    return ViewRegistry::Entry{view->time_, view.get()};
  };
  if (!store.views.Add(begin, store.options.limits.max_views, &view->handle_)) {
    return Error(ErrorCode::kOverloaded, "too many views are open",
                 {{"limit", "max_views"}, {"at_most", std::to_string(store.options.limits.max_views)}});
  }
  return view;
}

RocksView::~RocksView() { store_.views.Remove(handle_, &registered_); }

Status RocksView::CheckAge() const {
  const uint64_t age = store_.Now().micros - time_.micros;
  const auto at_most = static_cast<uint64_t>(store_.options.limits.max_view_age.micros);
  if (age <= at_most && point_ != nullptr) return {};
  return Error(ErrorCode::kUnavailable, "the view is older than views may be",
               {{"limit", "max_view_age"}, {"at_most_us", std::to_string(at_most)}, {"is", std::to_string(age)}});
}

Status RocksView::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                      const ReadOptions& options) {
  std::lock_guard lock(in_use_);
  KVARTS_CHECK_OK(CheckAge());
  return store_.Read(*point_, time_, keys, out, options);
}

Result<ScanPage> RocksView::Scan(const ScanRequest& request) {
  std::lock_guard lock(in_use_);
  KVARTS_CHECK_OK(CheckAge());
  return store_.Scan(*point_, time_, request);
}

bool RocksView::Close() {
  if (!in_use_.try_lock()) return false;
  std::lock_guard lock(in_use_, std::adopt_lock);
  point_.reset();
  registered_ = false;
  return true;
}

}  // namespace kvarts
