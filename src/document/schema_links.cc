#include "document/schema_links.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hex_digit.h"
#include "base/utf8.h"
#include "document/schema.h"

namespace kvarts {
namespace {

// As much of a $ref that leads nowhere as is told.
constexpr size_t kMaxToldBytes = 200;

constexpr std::string_view kRef = "$ref";

// The characters that %XX stand for put in their place.
std::optional<std::string> WithoutPercents(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3 || HexValue(text[i + 1]) < 0 || HexValue(text[i + 2]) < 0) return std::nullopt;
    plain.push_back(static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2])));
    i += 2;
  }
  return plain;
}

// One token of a pointer, as it was before it was escaped.
std::optional<std::string> Unescaped(std::string_view token) {
  std::string plain;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      plain.push_back(token[i]);
    } else if (++i < token.size() && (token[i] == '0' || token[i] == '1')) {
      plain.push_back(token[i] == '0' ? '~' : '/');
    } else {
      return std::nullopt;
    }
  }
  return plain;
}

// The tokens of "#/a/b", of which "#" has none.
std::optional<std::vector<std::string>> TokensOf(std::string_view ref) {
  if (!ref.starts_with('#')) return std::nullopt;
  const std::optional<std::string> pointer = WithoutPercents(ref.substr(1));
  if (!pointer || (!pointer->empty() && !pointer->starts_with('/'))) return std::nullopt;
  std::vector<std::string> tokens;
  for (std::string_view rest = *pointer; !rest.empty();) {
    rest.remove_prefix(1);
    const size_t size = std::min(rest.find('/'), rest.size());
    std::optional<std::string> token = Unescaped(rest.substr(0, size));
    if (!token) return std::nullopt;
    tokens.push_back(*std::move(token));
    rest.remove_prefix(size);
  }
  return tokens;
}

// Finds nodes by where they stand.
class Places {
 public:
  explicit Places(const SchemaProgram& program) {
    for (uint32_t node = 1; node < program.nodes.size(); ++node) {
      const SchemaNode& its = program.nodes[node];
      // Names are told from keywords without one by a byte that goes before them.
      children_.emplace(Key(its.parent, KeywordName(its.under), its.name ? "/" + *its.name : ""), node);
    }
  }

  uint32_t Find(const std::vector<std::string>& tokens) const {
    uint32_t node = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      uint32_t next = Child(node, tokens[i], "");
      if (next == kNoNode && i + 1 < tokens.size()) {
        next = Child(node, tokens[i], "/" + tokens[i + 1]);
        ++i;
      }
      if (next == kNoNode) return kNoNode;
      node = next;
    }
    return node;
  }

 private:
  using Key = std::tuple<uint32_t, std::string, std::string>;

  uint32_t Child(uint32_t node, const std::string& keyword, std::string name) const {
    const auto found = children_.find(Key(node, keyword, std::move(name)));
    return found == children_.end() ? kNoNode : found->second;
  }

  std::map<Key, uint32_t> children_;
};

// Calls on_next(node) for each node that a value must be held against when it is held against this one.
template <class OnNext>
void EachNext(const SchemaProgram& program, uint32_t node, OnNext on_next) {
  for (const SchemaRule& rule : program.RulesOf(node)) {
    switch (rule.keyword) {
      case SchemaKeyword::kRef:
      case SchemaKeyword::kNot:
        on_next(rule.a);
        break;
      case SchemaKeyword::kAllOf:
      case SchemaKeyword::kAnyOf:
      case SchemaKeyword::kOneOf:
        for (uint32_t i = rule.a; i < rule.b; ++i) on_next(program.children[i]);
        break;
      case SchemaKeyword::kIf:
        for (uint32_t i = rule.a; i < rule.a + 3; ++i) {
          if (program.children[i] != kNoNode) on_next(program.children[i]);
        }
        break;
      case SchemaKeyword::kDependentSchemas:
        for (uint32_t i = rule.a; i < rule.b; ++i) on_next(program.named[i].node);
        break;
      default:
        break;
    }
  }
}

// How many follow from each node, one from the other: the longest way, itself included. Nodes without an end have 0.
std::vector<size_t> Heights(const SchemaProgram& program) {
  const size_t count = program.nodes.size();
  std::vector<size_t> open(count, 0);  // of those that follow, the heights that are not known yet
  std::vector<std::vector<uint32_t>> before(count);
  for (uint32_t node = 0; node < count; ++node) {
    EachNext(program, node, [&](uint32_t next) {
      ++open[node];
      before[next].push_back(node);
    });
  }
  std::vector<size_t> tallest(count, 0);
  std::vector<size_t> heights(count, 0);
  std::vector<uint32_t> known;
  for (uint32_t node = 0; node < count; ++node) {
    if (open[node] == 0) known.push_back(node);
  }
  while (!known.empty()) {
    const uint32_t node = known.back();
    known.pop_back();
    heights[node] = tallest[node] + 1;
    for (const uint32_t one : before[node]) {
      tallest[one] = std::max(tallest[one], heights[node]);
      if (--open[one] == 0) known.push_back(one);
    }
  }
  return heights;
}

// The node of a $ref on a circle to which a node without an end leads. What follows otherwise stands deeper in the
// schema, so each circle has one.
uint32_t RefOfCircle(const SchemaProgram& program, const std::vector<size_t>& heights, uint32_t node) {
  const auto next_of = [&](uint32_t one) {
    uint32_t found = kNoNode;
    EachNext(program, one, [&](uint32_t next) {
      if (found == kNoNode && heights[next] == 0) found = next;
    });
    return found;
  };
  for (size_t i = 0; i < program.nodes.size(); ++i) node = next_of(node);
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const uint32_t next = next_of(node);
    if (program.nodes[next].parent != node) return node;
    node = next;
  }
  return node;
}

}  // namespace

Status LinkRefs(const std::vector<SchemaRef>& refs, SchemaProgram* program) {
  if (refs.empty()) return {};
  const Places places(*program);
  for (const SchemaRef& ref : refs) {
    SchemaRule& rule = program->rules[ref.rule];
    const auto refused = [&](const char* why) {
      return Error(ErrorCode::kInvalidArgument, why,
                   {{"keyword", std::string(kRef)},
                    {"schema_path", program->PointerTo(rule.node, kRef)},
                    {"ref", std::string(CutText(ref.text, kMaxToldBytes))}});
    };
    const auto tokens = TokensOf(ref.text);
    if (!tokens) return refused("a $ref is # or a JSON Pointer behind it, as in #/$defs/name");
    rule.a = places.Find(*tokens);
    if (rule.a == kNoNode) return refused("a $ref leads to no schema");
  }
  return {};
}

Status CheckEnds(const SchemaProgram& program) {
  const std::vector<size_t> heights = Heights(program);
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    if (heights[node] == 0) {
      return Error(ErrorCode::kInvalidArgument, "a $ref leads back to itself without going into the value",
                   {{"keyword", std::string(kRef)},
                    {"schema_path", program.PointerTo(RefOfCircle(program, heights, node), kRef)}});
    }
    if (heights[node] > DocumentSchema::kMaxDepth) {
      return Error(ErrorCode::kTooLarge, "the schema is too deep",
                   {{"limit", "max_schema_depth"},
                    {"at_most", std::to_string(DocumentSchema::kMaxDepth)},
                    {"schema_path", program.PointerTo(node)}});
    }
  }
  return {};
}

}  // namespace kvarts
