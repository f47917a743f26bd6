#include "support/exposition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace kvarts::test {
namespace {

bool IsName(std::string_view name, bool colon) {
  const auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::optional<double> NumberOf(std::string_view text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> Unescaped(std::string_view text, bool quotes) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] == 'n') {
      out.push_back('\n');
    } else if (text[i] == '\\' || (quotes && text[i] == '"')) {
      out.push_back(text[i]);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

class Parser {
 public:
  Parser(std::string_view text, bool open_metrics) : text_(text), open_metrics_(open_metrics) {}

  Result<Exposition> Parse() {
    if (open_metrics_) {
      if (!text_.ends_with("\n# EOF\n")) return Wrong("an end is missing");
      text_.remove_suffix(6);
    }
    if (!text_.ends_with('\n')) return Wrong("the last line does not end");
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      line_ = text_.substr(0, end);
      text_.remove_prefix(end + 1);
      const char* const wrong = line_.starts_with('#') ? Comment() : Sample();
      if (wrong != nullptr) return Wrong(wrong);
    }
    for (const auto& [name, family] : parsed_.families) {
      line_ = name;
      if (const char* wrong = CheckFamily(name, family)) return Wrong(wrong);
    }
    return std::move(parsed_);
  }

 private:
  Error Wrong(const char* why) const { return Error(ErrorCode::kInvalidArgument, why, {{"line", std::string(line_)}}); }

  const char* Comment() {
    std::string_view rest = line_;
    const bool is_help = rest.starts_with("# HELP ");
    if (!is_help && !rest.starts_with("# TYPE ")) return "a comment is neither HELP nor TYPE";
    rest.remove_prefix(7);
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return "a comment says nothing";
    const std::string name(rest.substr(0, space));
    rest.remove_prefix(space + 1);
    if (!IsName(name, true)) return "this is no name";
    if (is_help) {
      if (!seen_.insert(name).second) return "a family is there twice";
      current_ = name;
      const auto help = Unescaped(rest, open_metrics_);
      if (!help || help->empty()) return "help is missing or wrong";
      parsed_.families[name].help = *help;
      return nullptr;
    }
    if (name != current_) return "TYPE is of another family than HELP";
    MetricFamily& family = parsed_.families[name];
    if (!family.type.empty() || !family.samples.empty()) return "TYPE is there twice or too late";
    if (rest != "counter" && rest != "gauge" && rest != "histogram") return "there is no such type";
    family.type = rest;
    return nullptr;
  }

  const char* Sample() {
    MetricSample sample;
    const size_t name_end = line_.find_first_of("{ ");
    if (name_end == std::string_view::npos) return "a sample has no value";
    sample.name = line_.substr(0, name_end);
    if (!IsName(sample.name, true)) return "this is no name";
    std::string_view rest = line_.substr(name_end);
    if (rest[0] == '{') {
      rest.remove_prefix(1);
      if (const char* wrong = Labels(&rest, &sample)) return wrong;
    }
    if (!rest.starts_with(' ')) return "a space is missing";
    const auto value = NumberOf(rest.substr(1));
    if (!value) return "the value is no number";
    sample.value = *value;
    if (!Belongs(sample.name)) return "a sample is not of its family";
    if (!series_.insert({sample.name, sample.labels}).second) return "a series is there twice";
    parsed_.families[current_].samples.push_back(std::move(sample));
    return nullptr;
  }

  static const char* Labels(std::string_view* rest, MetricSample* sample) {
    while (true) {
      const size_t equals = rest->find("=\"");
      if (equals == std::string_view::npos) return "a label has no value";
      const std::string name(rest->substr(0, equals));
      if (!IsName(name, false) || name.starts_with("__")) return "this is no label";
      rest->remove_prefix(equals + 2);
      size_t end = 0;
      while (end < rest->size() && (*rest)[end] != '"') end += (*rest)[end] == '\\' ? 2 : 1;
      if (end >= rest->size()) return "a label does not end";
      const auto value = Unescaped(rest->substr(0, end), true);
      if (!value) return "there is no such escape";
      if (!sample->labels.emplace(name, *value).second) return "a label is there twice";
      rest->remove_prefix(end + 1);
      if (rest->starts_with('}')) break;
      if (!rest->starts_with(',')) return "a comma is missing";
      rest->remove_prefix(1);
    }
    rest->remove_prefix(1);
    return nullptr;
  }

  bool Belongs(const std::string& name) const {
    const auto found = parsed_.families.find(current_);
    if (found == parsed_.families.end()) return false;
    const std::string& type = found->second.type;
    if (type == "histogram")
      return name == current_ + "_bucket" || name == current_ + "_sum" || name == current_ + "_count";
    if (type == "counter") return name == (open_metrics_ ? current_ + "_total" : current_) && name.ends_with("_total");
    return type == "gauge" && name == current_ && !name.ends_with("_total");
  }

  static const char* CheckFamily(const std::string& name, const MetricFamily& family) {
    if (family.type.empty()) return "a family has no type";
    if (family.type == "histogram") return CheckHistogram(name, family);
    for (const MetricSample& sample : family.samples) {
      if (sample.labels.contains("le")) return "only buckets have le";
      if (family.type == "counter" && !(sample.value >= 0)) return "a counter is below zero";
    }
    return nullptr;
  }

  static const char* CheckHistogram(const std::string& name, const MetricFamily& family) {
    struct Parts {
      double last = -std::numeric_limits<double>::infinity();
      double below = 0;
      std::optional<double> all, sum, count;
    };
    std::map<std::map<std::string, std::string>, Parts> by_labels;
    for (const MetricSample& sample : family.samples) {
      auto labels = sample.labels;
      if (sample.name != name + "_bucket") {
        if (labels.contains("le")) return "only buckets have le";
        (sample.name.ends_with("_sum") ? by_labels[labels].sum : by_labels[labels].count) = sample.value;
        continue;
      }
      const auto le = labels.extract("le");
      const double boundary = le.empty() ? std::nan("") : NumberOf(le.mapped()).value_or(std::nan(""));
      Parts& parts = by_labels[labels];
      if (!(boundary > parts.last)) return "boundaries do not ascend";
      if (sample.value < parts.below) return "buckets do not add up";
      parts.last = boundary;
      parts.below = sample.value;
      if (std::isinf(boundary)) parts.all = sample.value;
    }
    for (const auto& [labels, parts] : by_labels) {
      if (!parts.all || !parts.sum || !parts.count) return "a histogram is not whole";
      if (*parts.all != *parts.count) return "a histogram counts otherwise than its buckets";
    }
    return nullptr;
  }

  std::string_view text_;
  const bool open_metrics_;
  std::string_view line_;
  std::string current_;
  std::set<std::string> seen_;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> series_;
  Exposition parsed_;
};

}  // namespace

double Exposition::Value(const std::string& name, const std::map<std::string, std::string>& labels) const {
  for (const auto& [family_name, family] : families) {
    for (const MetricSample& sample : family.samples) {
      if (sample.name == name && sample.labels == labels) return sample.value;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

size_t Exposition::Series() const {
  size_t series = 0;
  for (const auto& [name, family] : families) series += family.samples.size();
  return series;
}

std::map<std::string, std::vector<std::string>> Exposition::LabelValues() const {
  std::map<std::string, std::set<std::string>> sets;
  for (const auto& [family_name, family] : families) {
    for (const MetricSample& sample : family.samples) {
      for (const auto& [name, value] : sample.labels) sets[name].insert(value);
    }
  }
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [name, set] : sets) values[name].assign(set.begin(), set.end());
  return values;
}

std::vector<std::string> Exposition::Names() const {
  std::set<std::string> names;
  for (const auto& [family_name, family] : families) {
    names.insert(family_name);
    for (const MetricSample& sample : family.samples) names.insert(sample.name);
  }
  return {names.begin(), names.end()};
}

Result<Exposition> ParseExposition(std::string_view text, bool open_metrics) {
  return Parser(text, open_metrics).Parse();
}

}  // namespace kvarts::test
