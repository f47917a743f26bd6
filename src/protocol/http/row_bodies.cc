#include "protocol/http/row_bodies.h"

#include "encoding/document_json.h"
#include "protocol/http/bodies.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

Bytes ReadValue(JsonReader& json) {
  Bytes document;
  DocumentWriter writer(&document);
  ReadDocument(json, &writer);
  return document;
}

Bytes ReadMap(JsonReader& json, const char* why) {
  json.Require(json.Peek() == JsonKind::kObject, why);
  Bytes document = ReadValue(json);
  // {"$set": […]} is an object of JSON, and no map.
  if (json.ok()) json.Require(DocumentView(document).kind() == DocumentKind::kMap, why);
  return document;
}

TablePath ReadTablePath(JsonReader& json) {
  TablePath path;
  json.Object([&](std::string_view name) {
    if (name == "project") {
      path.project = json.Text();
    } else if (name == "dataset") {
      path.dataset = json.Text();
    } else if (name == "table") {
      path.table = json.Text();
    } else {
      json.Unknown(name);
    }
  });
  if (json.ok()) json.Require(CheckPath(path).has_value(), "a table is named by its project, its dataset and itself");
  return path;
}

std::vector<FieldUpdate> ReadCheckedUpdates(JsonReader& json) {
  std::vector<FieldUpdate> updates = ReadUpdates(json);
  if (!json.ok()) return {};
  const Status checked = CheckUpdates(updates);
  if (!checked.has_value()) json.Refuse(checked.error());
  return updates;
}

std::optional<Condition> ReadCondition(JsonReader& json) {
  const std::string_view text = json.Text();
  if (!json.ok()) return std::nullopt;
  Result<Condition> condition = Condition::Parse(text);
  if (condition.has_value()) return *std::move(condition);
  json.Refuse(condition.error());
  return std::nullopt;
}

std::optional<Projection> ReadFields(JsonReader& json) {
  std::vector<DocumentPath> paths;
  json.Array([&] {
    if (paths.size() == Projection::kMaxPaths) return json.Refuse(Projection::TooManyPaths());
    Result<DocumentPath> path = DocumentPath::Parse(json.Text());
    if (!path.has_value()) return json.Refuse(path.error());
    paths.push_back(*std::move(path));
  });
  if (!json.ok()) return std::nullopt;
  Result<Projection> projection = Projection::Of(std::move(paths));
  if (projection.has_value()) return *std::move(projection);
  json.Refuse(projection.error());
  return std::nullopt;
}

WriteCondition ReadWriteCondition(JsonReader& json, std::string_view name) {
  using Kind = WriteCondition::Kind;
  if (name == "ifVersion") {
    const auto version = Version::Parse(json.Text());
    json.Require(version.has_value(), "a version is a text of decimal digits");
    return {Kind::kVersionIn, {version.value_or(kNoVersion)}};
  }
  json.Require(json.Bool(), "a condition can only be true");
  return {name == "ifAbsent" ? Kind::kAbsent : Kind::kPresent};
}

TableCommand::Return ReadReturn(JsonReader& json) {
  const std::string_view text = json.Text();
  json.Require(text == "before" || text == "after", "what is returned is before or after");
  return text == "before" ? TableCommand::Return::kBefore : TableCommand::Return::kAfter;
}

SortBound ReadBound(JsonReader& json) {
  SortBound bound;
  json.Object([&](std::string_view name) {
    if (name == "value") {
      bound.value = ReadValue(json);
    } else if (name == "inclusive") {
      bound.inclusive = json.Bool();
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!bound.value.empty(), "a bound has a value");
  return bound;
}

// The change that a patch says in one of its two forms.
std::variant<PatchRow::Merge, std::vector<FieldUpdate>> TakeChange(JsonReader& json, RowFields& fields) {
  json.Require(fields.patch.has_value() != fields.update.has_value(), "a change is a patch or an update, and not both");
  if (fields.patch) return PatchRow::Merge{*std::move(fields.patch)};
  return std::move(fields.update).value_or(std::vector<FieldUpdate>());
}

RowCondition TakeCondition(RowFields& fields) {
  return {std::move(fields.condition).value_or(WriteCondition()), std::move(fields.where)};
}

void ReadQueryField(JsonReader& json, std::string_view name, const PageBounds& bounds, RowQuery* query) {
  if (name == "index") {
    query->index = json.Text();
  } else if (name == "partition") {
    query->partition = ReadMap(json, "the partition is an object of the partition fields");
  } else if (name == "sort") {
    json.Array([&] {
      json.Require(query->sort.size() < IndexSpec::kMaxFields, "there are at most 16 sort fields");
      query->sort.push_back(ReadValue(json));
    });
  } else if (name == "from") {
    query->from = ReadBound(json);
  } else if (name == "to") {
    query->to = ReadBound(json);
  } else if (name == "prefix") {
    query->prefix = ReadValue(json);
  } else if (name == "reverse") {
    query->reverse = json.Bool();
  } else if (name == "filter") {
    if (!json.TakeNull()) query->filter = ReadCondition(json);
  } else if (name == "fields") {
    if (!json.TakeNull()) query->projection = ReadFields(json);
  } else if (name == "limit") {
    query->limit = json.Uint(bounds.at_most);
    json.Require(query->limit > 0, "a page has one row at least");
  } else if (name == "maxBytes") {
    query->max_bytes = json.Uint(bounds.max_bytes);
    json.Require(query->max_bytes > 0, "a page has one byte at least");
  } else if (name == "cursor") {
    if (!json.TakeNull()) query->cursor = json.Text();
  } else {
    json.Unknown(name);
  }
}

}  // namespace

Result<Bytes> ParseRow(std::string_view body) { return DocumentFromJson(body); }

Result<PatchRow> ParseRowPatch(std::string_view body) {
  JsonReader json(body);
  RowFields fields;
  json.Object([&](std::string_view name) {
    const bool taken = (name == "patch" || name == "update") && ReadRowField(json, name, &fields);
    if (!taken) json.Unknown(name);
  });
  PatchRow patch;
  patch.change = TakeChange(json, fields);
  KVARTS_CHECK_OK(json.Finish());
  return patch;
}

Result<RowKeysBody> ParseRowKeys(std::string_view body, size_t at_most) {
  JsonReader json(body);
  RowKeysBody parsed;
  bool given = false;
  json.Object([&](std::string_view name) {
    if (name == "keys") {
      given = true;
      json.Array([&] {
        if (parsed.keys.size() == at_most) return json.Refuse(TooManyKeys(at_most));
        parsed.keys.push_back(ReadMap(json, "a key is an object of the key's fields"));
      });
    } else if (name == "fields") {
      if (!json.TakeNull()) parsed.fields = ReadFields(json);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(given, "the keys are missing");
  KVARTS_CHECK_OK(json.Finish());
  return parsed;
}

Result<RowQuery> ParseRowQuery(std::string_view body, const PageBounds& bounds) {
  JsonReader json(body);
  RowQuery query;
  query.limit = bounds.usual;
  query.max_bytes = bounds.max_bytes;
  json.Object([&](std::string_view name) { ReadQueryField(json, name, bounds, &query); });
  json.Require(!query.partition.empty(), "a query names its partition");
  KVARTS_CHECK_OK(json.Finish());
  return query;
}

Result<SplitBody> ParseSplit(std::string_view body) {
  JsonReader json(body);
  SplitBody split;
  json.Object([&](std::string_view name) {
    if (name == "parts") {
      split.parts = json.Uint(RowScan::kMaxParts);
    } else if (name == "filter") {
      if (!json.TakeNull()) split.filter = ReadCondition(json);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(split.parts > 0, "a scan has 1 to 1024 parts");
  KVARTS_CHECK_OK(json.Finish());
  return split;
}

bool ReadRowField(JsonReader& json, std::string_view name, RowFields* fields) {
  if (name == "table") {
    fields->table = ReadTablePath(json);
  } else if (name == "key") {
    fields->key = ReadMap(json, "a key is an object of the key's fields");
  } else if (name == "row") {
    fields->row = ReadMap(json, "a row is an object");
  } else if (name == "patch") {
    fields->patch = ReadMap(json, "a patch is an object");
  } else if (name == "update") {
    fields->update = ReadCheckedUpdates(json);
  } else if (name == "ifVersion" || name == "ifAbsent" || name == "ifPresent") {
    json.Require(!fields->condition, "only one condition can be given");
    fields->condition = ReadWriteCondition(json, name);
  } else if (name == "where") {
    fields->where = ReadCondition(json);
  } else if (name == "make") {
    fields->make = json.Bool();
  } else if (name == "missing_ok") {
    fields->missing_ok = json.Bool();
  } else if (name == "return") {
    fields->shows = ReadReturn(json);
  } else {
    return false;
  }
  fields->any = true;
  return true;
}

TableCommand MakeRowCommand(JsonReader& json, std::string_view op, RowFields fields) {
  TableCommand command;
  json.Require(fields.table.has_value(), "a table is missing");
  command.table = std::move(fields.table).value_or(TablePath());
  command.shows = fields.shows;
  const bool is_put = op == "put";
  const bool is_patch = op == "patch";
  json.Require(is_put || is_patch || op == "delete", "op is put, patch or delete");
  json.Require(is_put == fields.row.has_value() && is_put != fields.key.has_value(),
               "of a put there is the row, of anything else the key");
  json.Require(is_patch || !(fields.patch || fields.update || fields.make), "only a patch has patch, update and make");
  json.Require(op == "delete" || !fields.missing_ok, "missing_ok belongs to a delete");
  if (is_put) {
    command.command = PutRow{std::move(fields.row).value_or(Bytes()), TakeCondition(fields)};
  } else if (is_patch) {
    PatchRow patch{std::move(fields.key).value_or(Bytes()), TakeChange(json, fields)};
    patch.condition = TakeCondition(fields);
    patch.make = fields.make.value_or(false);
    command.command = std::move(patch);
  } else {
    command.command =
        DeleteRow{std::move(fields.key).value_or(Bytes()), TakeCondition(fields), fields.missing_ok.value_or(false)};
  }
  return command;
}

Result<std::vector<TableCommand>> ParseRowBatch(std::string_view body, size_t max_operations) {
  JsonReader json(body);
  std::vector<TableCommand> commands;
  json.Object([&](std::string_view name) {
    if (name != "commands") return json.Unknown(name);
    json.Array([&] {
      if (commands.size() == max_operations) {
        return json.Refuse(Error(ErrorCode::kTooLarge, "the batch has too many commands",
                                 {{"limit", "max_commit_operations"}, {"at_most", std::to_string(max_operations)}}));
      }
      RowFields fields;
      std::string op;
      json.Object([&](std::string_view field) {
        if (field == "op") {
          op = json.Text();
        } else if (!ReadRowField(json, field, &fields)) {
          json.Unknown(field);
        }
      });
      commands.push_back(MakeRowCommand(json, op, std::move(fields)));
    });
  });
  KVARTS_CHECK_OK(json.Finish());
  if (commands.empty()) return Error(ErrorCode::kInvalidArgument, "a batch has commands");
  return commands;
}

}  // namespace kvarts::http
