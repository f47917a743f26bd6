// How a cursor goes over the tree: by its path from the root, of which each step is where it went on from a node.
#include "engine/rocksdb/memtable/radix_tree.h"

namespace kvarts::memtable {

void RadixTree::Cursor::Down(Child child) {
  while (const Node* const node = child.node()) {
    if (const Child own = node->own().Load()) {
      path_.push_back({node, Step::kOwn});
      child = own;
    } else {
      const auto first = node->AtLeast(0);
      path_.push_back({node, first->label});
      child = first->child;
    }
  }
  At(child.entry());
}

void RadixTree::Cursor::DownToLast(Child child) {
  while (const Node* const node = child.node()) {
    const auto last = node->AtMost(UINT8_MAX);
    path_.push_back({node, last->label});
    child = last->child;
  }
  At(child.entry());
}

void RadixTree::Cursor::ToNextKey() {
  while (!path_.empty()) {
    Step& step = path_.back();
    if (const auto next = step.node->AtLeast(step.label + 1)) {
      step.label = next->label;
      return Down(next->child);
    }
    path_.pop_back();
  }
  At(nullptr);
}

void RadixTree::Cursor::ToPreviousKey() {
  while (!path_.empty()) {
    Step& step = path_.back();
    if (const auto previous = step.node->AtMost(step.label - 1)) {
      step.label = previous->label;
      return DownToLast(previous->child);
    }
    const Child own = step.label == Step::kOwn ? Child() : step.node->own().Load();
    if (own) {
      step.label = Step::kOwn;
      return At(own.entry());
    }
    path_.pop_back();
  }
  At(nullptr);
}

void RadixTree::Cursor::ToFirst() {
  Begin();
  if (const Child root = tree_.root_.Load()) Down(root);
}

void RadixTree::Cursor::ToLast() {
  Begin();
  if (const Child root = tree_.root_.Load()) DownToLast(root);
  if (newest_ != nullptr) entry_ = Oldest(newest_);
}

void RadixTree::Cursor::ToAtLeast(const EntryKey& key) {
  Begin();
  BytesView rest = key.user_key;
  Child child = tree_.root_.Load();
  if (!child) return;
  while (const Node* const node = child.node()) {
    const Met met = Meet(node->prefix(), rest);
    if (met.order > 0) return Down(child);
    if (met.order < 0) return ToNextKey();
    rest.remove_prefix(met.common);
    if (rest.empty()) {
      const Child own = node->own().Load();
      if (!own) {
        // What has come there meanwhile may be before the place: it is not looked at again.
        const auto first = node->AtLeast(0);
        path_.push_back({node, first->label});
        return Down(first->child);
      }
      path_.push_back({node, Step::kOwn});
      child = own;
      break;
    }
    const int label = static_cast<uint8_t>(rest[0]);
    const auto next = node->AtLeast(label);
    if (!next) return ToNextKey();
    path_.push_back({node, next->label});
    if (next->label != label) return Down(next->child);
    rest.remove_prefix(1);
    child = next->child;
  }
  At(child.entry());
  const int order = newest_->key().user_key.compare(key.user_key);
  if (order == 0) entry_ = FirstAtMost(newest_, key.tag);
  if (order < 0 || entry_ == nullptr) ToNextKey();
}

void RadixTree::Cursor::ToAtMost(const EntryKey& key) {
  const auto is_behind = [&key](const EntryKey& other) {
    return other.user_key != key.user_key ? other.user_key > key.user_key : other.tag < key.tag;
  };
  ToAtLeast(key);
  if (entry_ == nullptr) ToLast();
  while (entry_ != nullptr && is_behind(entry_->key())) Previous();
}

void RadixTree::Cursor::Next() {
  entry_ = OlderThan(*entry_);
  if (entry_ == nullptr) ToNextKey();
}

void RadixTree::Cursor::Previous() {
  if (entry_ != newest_) {
    entry_ = LastAbove(newest_, entry_->key().tag);
    return;
  }
  ToPreviousKey();
  if (newest_ != nullptr) entry_ = Oldest(newest_);
}

}  // namespace kvarts::memtable
