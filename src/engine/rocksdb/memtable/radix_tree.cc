#include "engine/rocksdb/memtable/radix_tree.h"

#include <algorithm>

namespace kvarts::memtable {
namespace {

uint8_t LabelAt(BytesView bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

size_t CommonPrefix(BytesView one, BytesView other) {
  return static_cast<size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

// What ends here belongs to the node itself.
void Hang(Node* node, BytesView rest, Child child) {
  if (rest.empty()) {
    node->own().Store(child);
  } else {
    node->Add(LabelAt(rest, 0), child);
  }
}

Node::Kind Larger(Node::Kind kind) { return static_cast<Node::Kind>(static_cast<uint8_t>(kind) + 1); }

uint64_t EntriesOf(Child child) {
  if (!child) return 0;
  return child.node() == nullptr ? 1 : child.node()->entries();
}

}  // namespace

RadixTree::Met RadixTree::Meet(BytesView prefix, BytesView rest) {
  if (rest.starts_with(prefix)) return {prefix.size(), 0};
  const size_t common = CommonPrefix(prefix, rest);
  if (common == rest.size()) return {common, 1};
  return {common, LabelAt(prefix, common) < LabelAt(rest, common) ? -1 : 1};
}

void RadixTree::Insert(Entry* entry) {
  const BytesView key = entry->key().user_key;
  Slot* slot = &root_;
  size_t depth = 0;
  while (true) {
    const Child child = slot->Load();
    if (!child) return slot->Store(Child(entry));
    if (Entry* const newest = child.entry()) {
      if (newest->key().user_key != key) return Part(slot, newest, entry, depth);
      Entry* const now = AddVersion(newest, entry, space_, &random_);
      if (now != newest) slot->Store(Child(now));
      return;
    }
    Node* const node = child.node();
    const BytesView rest = key.substr(depth);
    const Met met = Meet(node->prefix(), rest);
    if (met.order != 0) return Split(slot, *node, met.common, entry, rest);
    node->CountEntries(1);
    depth += met.common;
    if (depth == key.size()) {
      slot = &node->own();
      continue;
    }
    const uint8_t label = LabelAt(key, depth++);
    Slot* const next = node->Find(label);
    if (next == nullptr) return AddChild(slot, node, label, entry);
    slot = next;
  }
}

void RadixTree::AddChild(Slot* slot, Node* node, uint8_t label, Entry* entry) {
  if (node->Add(label, Child(entry))) return;
  Node* const larger = Node::Copy(*node, node->prefix(), Larger(node->kind()), space_);
  larger->Add(label, Child(entry));
  slot->Store(Child(larger));
}

// Only a part of the node's prefix is in the key: a node of that part comes before it.
void RadixTree::Split(Slot* slot, const Node& node, size_t common, Entry* entry, BytesView rest) {
  const BytesView prefix = node.prefix();
  Node* const parent = Node::New(rest.substr(0, common), space_);
  const Child below(Node::Copy(node, prefix.substr(common + 1), node.kind(), space_));
  parent->Add(LabelAt(prefix, common), below);
  Hang(parent, rest.substr(common), Child(entry));
  parent->CountEntries(node.entries() + 1);
  slot->Store(Child(parent));
}

// A node for what two keys have in common from there on.
void RadixTree::Part(Slot* slot, Entry* newest, Entry* entry, size_t depth) {
  const BytesView rest = entry->key().user_key.substr(depth);
  const BytesView other = newest->key().user_key.substr(depth);
  const size_t common = CommonPrefix(rest, other);
  Node* const parent = Node::New(rest.substr(0, common), space_);
  Hang(parent, other.substr(common), Child(newest));
  Hang(parent, rest.substr(common), Child(entry));
  parent->CountEntries(2);
  slot->Store(Child(parent));
}

const Entry* RadixTree::Find(const EntryKey& key) const {
  BytesView rest = key.user_key;
  Child child = root_.Load();
  while (Node* const node = child.node()) {
    const BytesView prefix = node->prefix();
    if (!rest.starts_with(prefix)) return nullptr;
    rest.remove_prefix(prefix.size());
    if (rest.empty()) {
      child = node->own().Load();
      break;
    }
    Slot* const slot = node->Find(LabelAt(rest, 0));
    if (slot == nullptr) return nullptr;
    rest.remove_prefix(1);
    child = slot->Load();
  }
  if (!child || child.entry()->key().user_key != key.user_key) return nullptr;
  return FirstAtMost(child.entry(), key.tag);
}

uint64_t RadixTree::CountBefore(const EntryKey& key) const {
  uint64_t count = 0;
  BytesView rest = key.user_key;
  Child child = root_.Load();
  while (const Node* const node = child.node()) {
    const Met met = Meet(node->prefix(), rest);
    if (met.order != 0) return met.order < 0 ? count + node->entries() : count;
    rest.remove_prefix(met.common);
    if (rest.empty()) return count;
    const int label = LabelAt(rest, 0);
    rest.remove_prefix(1);
    count += EntriesOf(node->own().Load());
    auto next = node->AtLeast(0);
    for (; next && next->label < label; next = node->AtLeast(next->label + 1)) count += EntriesOf(next->child);
    if (!next || next->label != label) return count;
    child = next->child;
  }
  return child && child.entry()->key().user_key < key.user_key ? count + 1 : count;
}

}  // namespace kvarts::memtable
