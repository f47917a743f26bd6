#include "http/index_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace kvarts::test {
namespace {

// What a row has in an index: a partition, as queries name it, and where in it.
struct Place {
  std::string partition;
  std::vector<std::string> sort;  // in the order in which they must come

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Asked {
  const char* table;
  const char* index;
  std::function<std::vector<Place>(const JsonValue& row)> places;
  // Partitions that may have something in them, whether or not a row says so.
  std::vector<std::string> partitions;
};

std::string Ascending(const JsonValue& number) { return fmt::format("{:012}", number.number()); }
std::string Descending(const JsonValue& number) { return fmt::format("{:012}", 1'000'000'000 - number.number()); }
std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}
std::string Named(const char* path, const std::string& json) { return fmt::format(R"({{"{}":{}}})", path, json); }

// Those of each different tag.
std::vector<Place> ByTag(const JsonValue& row, const std::vector<std::string>& sort) {
  std::set<std::string> tags;
  for (const JsonValue& tag : row["tags"].elements()) tags.insert(tag.raw());
  std::vector<Place> places;
  for (const std::string& tag : tags) places.push_back({Named("tags[*]", tag), sort});
  return places;
}

std::vector<Place> Only(Place place) { return {std::move(place)}; }

std::vector<std::string> Partitions(const char* path, const std::vector<std::string>& values) {
  std::vector<std::string> partitions;
  for (const std::string& value : values) partitions.push_back(Named(path, value));
  return partitions;
}

std::vector<Asked> AllIndexes() {
  std::vector<std::string> mails;
  for (int i = 0; i < 90; ++i) mails.push_back(fmt::format("\"user{}@x\"", i));
  const std::vector<std::string> tags = Partitions("tags[*]", {R"("a")", R"("b")", R"("c")"});
  const std::vector<std::string> cities = {R"("Oslo")", R"("Rome")", R"("Wien")", R"("Bonn")"};
  const std::vector<std::string> kinds = Partitions("kind", {"null", R"("k0")", R"("k1")", R"("k2")"});
  const auto by_mail = [](const JsonValue& row) {
    if (!row.Has("mail")) return std::vector<Place>();
    std::string mail = Lower(row["mail"].text());
    std::erase(mail, ' ');
    return Only({Named("mail", '"' + mail + '"'), {}});
  };
  const auto by_city = [](const JsonValue& row) {
    if (!row.Has("city") || row.Has("hidden")) return std::vector<Place>();
    return Only({Named("city", row["city"].raw()), {Descending(row["age"])}});
  };
  const auto by_age = [](const JsonValue& row) {
    if (!row.Has("age")) return std::vector<Place>();
    return Only({Named("w", row["w"].raw()), {Descending(row["age"])}});
  };
  const auto by_kind = [](const JsonValue& row) { return Only({Named("kind", row["kind"].raw()), {}}); };
  const auto by_serial = [](const JsonValue& row) {
    return Only({Named("kind", row["kind"].raw()), {Ascending(row["n"])}});
  };
  const auto by_place = [](const JsonValue& row) {
    if (!row.Has("mail") || !row.Has("city")) return std::vector<Place>();
    return Only({Named("w", row["w"].raw()), {Lower(row["city"].text()), Ascending(row["age"])}});
  };
  const auto by_lower_city = [](const JsonValue& row) {
    return Only({Named("city", '"' + Lower(row["city"].text()) + '"'), {}});
  };
  const auto by_n = [](const JsonValue& row) { return Only({Named("w", row["w"].raw()), {Ascending(row["n"])}}); };
  return {
      {kUsers, "mail", by_mail, Partitions("mail", mails)},
      {kUsers, "tag", [](const JsonValue& row) { return ByTag(row, {}); }, tags},
      {kUsers, "city", by_city, Partitions("city", cities)},
      {kUsers, "age", by_age, {}},
      {kUsers, "kind", by_kind, kinds},
      {kUsers, "serial", by_serial, kinds},
      {kUsers, "tagged", [](const JsonValue& row) { return ByTag(row, {Descending(row["n"])}); }, tags},
      {kUsers, "place", by_place, {}},
      {kOrders, "city", by_lower_city, Partitions("city", {R"("oslo")", R"("rome")", R"("wien")", R"("bonn")"})},
      {kOrders, "n", by_n, {}},
  };
}

// One row as a line: what it is sorted by, and which one it is.
std::string Line(const Place& place, const JsonValue& row) {
  return fmt::format("{} {}/{} n={}", fmt::join(place.sort, " "), row["w"].text(), row["id"].text(), row["n"].raw());
}

// The rows of a partition, as keys and numbers.
std::vector<JsonValue> Query(HttpClient& client, const Asked& asked, const std::string& partition,
                             std::string* refusal) {
  std::vector<JsonValue> rows;
  std::string cursor = "null";
  do {
    const HttpAnswer answer = client.Call("POST", std::string(asked.table) + "/query", {},
                                          fmt::format(R"({{"index":"{}","partition":{},"limit":500{}}})", asked.index,
                                                      partition, cursor == "null" ? "" : ",\"cursor\":" + cursor));
    if (answer.status != 200) {
      *refusal = answer.body;
      return rows;
    }
    const JsonValue page = JsonValue::Parse(answer.body);
    for (const JsonValue& row : page["rows"].elements()) rows.push_back(row["value"]);
    cursor = page["cursor"].raw();
  } while (cursor != "null");
  return rows;
}

void Compare(HttpClient& client, const Asked& asked, const TableState& state, std::vector<std::string>* wrong) {
  std::map<std::string, std::multiset<std::string>> expected;
  for (const std::string& partition : asked.partitions) expected[partition];
  for (const auto& [name, row] : state.rows) {
    if (name.table != asked.table) continue;
    for (const Place& place : asked.places(row)) expected[place.partition].insert(Line(place, row));
  }
  for (const auto& [partition, lines] : expected) {
    std::string refusal;
    std::vector<std::string> found;
    std::vector<std::vector<std::string>> order;
    for (const JsonValue& row : Query(client, asked, partition, &refusal)) {
      // What an index includes may be less than the row: it is looked up among those that were scanned.
      const auto whole = state.rows.find({asked.table, row["w"].text(), row["id"].text()});
      if (whole == state.rows.end() || whole->second["n"].raw() != row["n"].raw()) {
        wrong->push_back(fmt::format("{} {} has a row that is not there: {}", asked.index, partition, row.raw()));
        continue;
      }
      for (const Place& place : asked.places(whole->second)) {
        if (place.partition != partition) continue;
        found.push_back(Line(place, whole->second));
        order.push_back(place.sort);
      }
    }
    if (!std::ranges::is_sorted(order)) wrong->push_back(fmt::format("{} {} is out of order", asked.index, partition));
    if (!refusal.empty() || std::multiset(found.begin(), found.end()) != lines) {
      wrong->push_back(
          fmt::format("{} {} has {} rows and not {}: {}", asked.index, partition, found.size(), lines.size(), refusal));
    }
    if (std::string_view(asked.index) == "mail" && lines.size() > 1) {
      wrong->push_back(fmt::format("{} is not unique: {}", partition, fmt::join(lines, ", ")));
    }
  }
}

}  // namespace

std::vector<std::string> CompareIndexes(const std::string& address, const TableState& state) {
  HttpClient client(address);
  std::vector<std::string> wrong;
  for (const Asked& asked : AllIndexes()) Compare(client, asked, state, &wrong);
  return wrong;
}

}  // namespace kvarts::test
