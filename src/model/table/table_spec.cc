#include "model/table/table_spec.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "encoding/document_json.h"

namespace kvarts {
namespace {

constexpr double kMicros = 1e6;

Order ReadOrder(JsonReader& json) {
  const std::string_view text = json.Text();
  json.Require(text == "asc" || text == "desc", "an order is asc or desc");
  return text == "desc" ? Order::kDescending : Order::kAscending;
}

KeyType ReadType(JsonReader& json) {
  const std::optional<KeyType> type = ParseKeyType(json.Text());
  json.Require(type.has_value(), "a type is text, number, binary, bool, timestamp or uuid");
  return type.value_or(KeyType::kText);
}

// "name" or {"name": …, …}.
KeyField ReadKeyField(JsonReader& json) {
  KeyField field;
  if (json.Peek() == JsonKind::kText) {
    field.name = json.Text();
    json.Require(!field.name.empty(), "a field of a key has a name");
    return field;
  }
  json.Object([&](std::string_view name) {
    if (name == "name") {
      field.name = json.Text();
    } else if (name == "type") {
      field.type = ReadType(json);
    } else if (name == "order") {
      field.order = ReadOrder(json);
    } else if (name == "min_length") {
      field.min_length = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "max_length") {
      field.max_length = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "pattern") {
      Result<Regex> pattern = Regex::Compile(json.Text());
      if (!pattern.has_value()) return json.Refuse(pattern.error());
      field.pattern = *std::move(pattern);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!field.name.empty(), "a field of a key has a name");
  return field;
}

std::optional<DocumentPath> ReadPath(JsonReader& json, DocumentPath::Each each) {
  Result<DocumentPath> path = DocumentPath::Parse(json.Text(), each);
  if (path.has_value()) return *std::move(path);
  json.Refuse(path.error());
  return std::nullopt;
}

// "path" or {"path": …, …}.
std::optional<IndexField> ReadIndexField(JsonReader& json) {
  std::optional<DocumentPath> path;
  std::optional<KeyType> type;
  Order order = Order::kAscending;
  bool trim = false;
  bool lower = false;
  if (json.Peek() == JsonKind::kText) {
    path = ReadPath(json, DocumentPath::Each::kAllowed);
  } else {
    json.Object([&](std::string_view name) {
      if (name == "path") {
        path = ReadPath(json, DocumentPath::Each::kAllowed);
      } else if (name == "type") {
        type = ReadType(json);
      } else if (name == "order") {
        order = ReadOrder(json);
      } else if (name == "trim") {
        trim = json.Bool();
      } else if (name == "lower") {
        lower = json.Bool();
      } else {
        json.Unknown(name);
      }
    });
    json.Require(path.has_value(), "a field of an index has a path");
  }
  if (!path) return std::nullopt;
  return IndexField{*std::move(path), type, order, trim, lower};
}

std::vector<IndexField> ReadIndexFields(JsonReader& json) {
  std::vector<IndexField> fields;
  json.Array([&] {
    std::optional<IndexField> field = ReadIndexField(json);
    json.Require(fields.size() < IndexSpec::kMaxFields, "an index has at most 16 fields");
    if (field) fields.push_back(*std::move(field));
  });
  return fields;
}

Included ReadIncluded(JsonReader& json) {
  if (json.Peek() == JsonKind::kText) {
    const std::string_view text = json.Text();
    json.Require(text == "key" || text == "all", "what an index includes is key, all, or a list of paths");
    return {text == "all" ? Included::Kind::kAll : Included::Kind::kKey, {}};
  }
  Included included{Included::Kind::kSome, {}};
  json.Array([&] {
    std::optional<DocumentPath> path = ReadPath(json, DocumentPath::Each::kRefused);
    json.Require(included.paths.size() < IndexSpec::kMaxIncluded, "an index includes at most 100 paths");
    if (path) included.paths.push_back(*std::move(path));
  });
  return included;
}

std::optional<Condition> ReadCondition(JsonReader& json) {
  if (json.TakeNull()) return std::nullopt;
  Result<Condition> condition = Condition::Parse(json.Text());
  if (condition.has_value()) return *std::move(condition);
  json.Refuse(condition.error());
  return std::nullopt;
}

Duration ReadSeconds(JsonReader& json) {
  // Within these bounds what is written is read as the same number of microseconds.
  const double seconds = json.Double();
  const bool good = seconds >= 1e-6 && seconds <= 9e9;
  json.Require(good, "a duration is a number of seconds, from a millionth to 9,000,000,000");
  return good ? Duration::Micros(std::llround(seconds * kMicros)) : Duration::Micros(1);
}

double InSeconds(Duration duration) { return static_cast<double>(duration.micros) / kMicros; }

TtlSpec ReadTtl(JsonReader& json) {
  TtlSpec ttl;
  json.Object([&](std::string_view name) {
    if (name == "field") {
      ttl.field = json.Text();
    } else if (name == "default") {
      if (json.TakeNull()) return;
      ttl.standard = ReadSeconds(json);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!ttl.field.empty() || ttl.standard, "a time to live has a field, a default, or both");
  return ttl;
}

// One of which only parts are said.
RetentionChange ReadRetentionParts(JsonReader& json) {
  RetentionChange parts;
  json.Object([&](std::string_view name) {
    if (name == "field") {
      parts.field = json.Text();
    } else if (name == "bucket") {
      parts.bucket = ReadSeconds(json);
    } else if (name == "keep") {
      parts.keep = ReadSeconds(json);
    } else {
      json.Unknown(name);
    }
  });
  return parts;
}

RetentionSpec ReadRetention(JsonReader& json) {
  RetentionSpec retention = ReadRetentionParts(json).Of({});
  json.Require(!retention.field.empty() && retention.keep.micros > 0, "a retention has a field, and how long to keep");
  return retention;
}

// It is kept as a document, so it is read in the form that a document gives it.
std::optional<DocumentSchema> ReadSchema(JsonReader& json) {
  Bytes document;
  DocumentWriter writer(&document);
  ReadDocument(json, &writer);
  if (!json.ok()) return std::nullopt;
  Result<DocumentSchema> schema = DocumentSchema::Parse(DocumentToJson(DocumentView(document)));
  if (schema.has_value()) return *std::move(schema);
  json.Refuse(schema.error());
  return std::nullopt;
}

KeySpec ReadKey(JsonReader& json) {
  KeySpec key;
  const auto read = [&](std::vector<KeyField>* fields) {
    json.Array([&] {
      KeyField field = ReadKeyField(json);
      json.Require(fields->size() < KeySpec::kMaxFields, "a key has at most 16 fields");
      fields->push_back(std::move(field));
    });
  };
  json.Object([&](std::string_view name) {
    if (name == "partition") {
      read(&key.partition);
    } else if (name == "sort") {
      read(&key.sort);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!key.partition.empty(), "a key has at least one partition field");
  return key;
}

void WriteKeyField(const KeyField& field, JsonWriter* json) {
  json->BeginObject().Field("name", field.name).Field("type", KeyTypeName(field.type));
  if (field.order == Order::kDescending) json->Field("order", "desc");
  if (field.min_length) json->Field("min_length", *field.min_length);
  if (field.max_length) json->Field("max_length", *field.max_length);
  if (field.pattern) json->Field("pattern", field.pattern->text());
  json->EndObject();
}

void WriteIndexFields(std::string_view name, const std::vector<IndexField>& fields, JsonWriter* json) {
  json->Name(name).BeginArray();
  for (const IndexField& field : fields) {
    json->BeginObject().Field("path", field.path.ToString());
    if (field.type) json->Field("type", KeyTypeName(*field.type));
    if (field.order == Order::kDescending) json->Field("order", "desc");
    if (field.trim) json->Field("trim", true);
    if (field.lower) json->Field("lower", true);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

Timestamp RetentionSpec::BucketOf(Timestamp time) const {
  return {time.micros - time.micros % static_cast<uint64_t>(bucket.micros)};
}

Timestamp RetentionSpec::EndOf(Timestamp time) const {
  const Timestamp end{BucketOf(time).micros + static_cast<uint64_t>(bucket.micros) +
                      static_cast<uint64_t>(keep.micros)};
  return end > kLastTimestamp ? kNever : end;
}

TtlSpec ReadTtlSpec(JsonReader& json) { return ReadTtl(json); }

RetentionSpec ReadRetentionSpec(JsonReader& json) { return ReadRetention(json); }

RetentionChange ReadRetentionChange(JsonReader& json) {
  RetentionChange change = ReadRetentionParts(json);
  json.Require(change.keep.micros > 0, "a change of a retention says how long to keep");
  return change;
}

RetentionSpec RetentionChange::Of(RetentionSpec retention) const {
  if (field) retention.field = *field;
  if (bucket) retention.bucket = *bucket;
  retention.keep = keep;
  return retention;
}

std::optional<DocumentSchema> ReadTableSchema(JsonReader& json) { return ReadSchema(json); }

IndexSpec ReadIndexSpec(JsonReader& json, const std::function<bool(std::string_view)>& other,
                        std::string_view known_name) {
  IndexSpec index;
  index.name = known_name;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      index.name = json.Text();
      json.Require(known_name.empty() || index.name == known_name, "the index has another name");
    } else if (name == "local") {
      index.local = json.Bool();
    } else if (name == "unique") {
      index.unique = json.Bool();
    } else if (name == "sparse") {
      index.sparse = json.Bool();
    } else if (name == "partition") {
      index.partition = ReadIndexFields(json);
    } else if (name == "sort") {
      index.sort = ReadIndexFields(json);
    } else if (name == "where") {
      index.where = ReadCondition(json);
    } else if (name == "include") {
      index.included = ReadIncluded(json);
    } else if (!other || !other(name)) {
      json.Unknown(name);
    }
  });
  json.Require(!index.name.empty(), "an index has a name");
  return index;
}

TableSpec ReadTableSpec(JsonReader& json) {
  TableSpec spec;
  json.Object([&](std::string_view name) {
    if (name == "key") {
      spec.key = ReadKey(json);
    } else if (name == "indexes") {
      json.Array([&] { spec.indexes.push_back(ReadIndexSpec(json)); });
    } else if (name == "ttl") {
      if (!json.TakeNull()) spec.ttl = ReadTtl(json);
    } else if (name == "retention") {
      if (!json.TakeNull()) spec.retention = ReadRetention(json);
    } else if (name == "schema") {
      if (!json.TakeNull()) spec.schema = ReadSchema(json);
    } else if (name == "profile") {
      const std::optional<Profile> profile = ParseProfile(json.Text());
      json.Require(profile.has_value(), "a profile is lookup, ingest or window");
      spec.profile = profile.value_or(Profile::kLookup);
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!spec.key.partition.empty(), "a table has a key");
  return spec;
}

void WriteIndexSpec(const IndexSpec& index, JsonWriter* json) {
  json->Field("name", index.name).Field("local", index.local).Field("unique", index.unique);
  json->Field("sparse", index.sparse);
  WriteIndexFields("partition", index.partition, json);
  WriteIndexFields("sort", index.sort, json);
  if (index.where) json->Field("where", index.where->ToString());
  json->Name("include");
  if (index.included.kind != Included::Kind::kSome) {
    json->Text(index.included.kind == Included::Kind::kAll ? "all" : "key");
    return;
  }
  json->BeginArray();
  for (const DocumentPath& path : index.included.paths) json->Text(path.ToString());
  json->EndArray();
}

void WriteTableSpec(const TableSpec& spec, JsonWriter* json) {
  json->Name("key").BeginObject().Name("partition").BeginArray();
  for (const KeyField& field : spec.key.partition) WriteKeyField(field, json);
  json->EndArray().Name("sort").BeginArray();
  for (const KeyField& field : spec.key.sort) WriteKeyField(field, json);
  json->EndArray().EndObject();
  if (spec.ttl) {
    json->Name("ttl").BeginObject();
    if (!spec.ttl->field.empty()) json->Field("field", spec.ttl->field);
    if (spec.ttl->standard) json->Field("default", InSeconds(*spec.ttl->standard));
    json->EndObject();
  }
  if (spec.retention) {
    json->Name("retention").BeginObject().Field("field", spec.retention->field);
    json->Field("bucket", InSeconds(spec.retention->bucket)).Field("keep", InSeconds(spec.retention->keep)).EndObject();
  }
  if (spec.schema) json->Name("schema").Raw(spec.schema->text());
  json->Field("profile", ProfileName(spec.profile));
}

Status CheckCatalogName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  if (!name.empty() && name.size() <= kMaxCatalogNameBytes && name.front() != '.' &&
      std::ranges::all_of(name, allowed)) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               "a name has 1 to 255 letters, digits, underscores, dashes and dots, and does not begin with a dot",
               {{"name", Escaped(name)}});
}

Result<Projection> IncludedFields(const IndexSpec& index, const KeySpec& key) {
  std::vector<DocumentPath> paths = index.included.paths;
  for (size_t i = 0; i < key.size(); ++i) {
    KVARTS_TRY(DocumentPath field, DocumentPath::Of({{DocumentPath::Step::Kind::kName, key[i].name}}));
    if (std::ranges::find(paths, field) == paths.end()) paths.push_back(std::move(field));
  }
  for (const auto* const fields : {&index.partition, &index.sort}) {
    for (const IndexField& field : *fields) {
      // What is there already may have it, or a part of it.
      const auto is_apart = [&](const DocumentPath& path) { return CheckApart(path, field.path).has_value(); };
      if (!field.path.HasEach() && std::ranges::all_of(paths, is_apart)) paths.push_back(field.path);
    }
  }
  return Projection::Of(std::move(paths));
}

Status CheckIndexSpec(const IndexSpec& index, const KeySpec& key) {
  const auto refused = [&](const char* text) {
    return Error(ErrorCode::kInvalidArgument, text, {{"index", Escaped(index.name)}});
  };
  KVARTS_CHECK_OK(CheckCatalogName(index.name));
  if (index.local && !index.partition.empty()) return refused("a local index has the table's partition fields");
  if (index.local && index.sort.empty()) return refused("a local index has at least one sort field");
  if (!index.local && index.partition.empty()) return refused("a global index has at least one partition field");
  size_t each = 0;
  for (const auto* const fields : {&index.partition, &index.sort}) {
    for (const IndexField& field : *fields) {
      if (field.path.HasEach()) ++each;
      if ((field.trim || field.lower) && field.type && *field.type != KeyType::kText) {
        return refused("only texts can be trimmed or brought to lower case");
      }
    }
  }
  if (each > 1) return refused("an index has entries for the elements of one list at most");
  if (index.included.kind == Included::Kind::kSome) KVARTS_CHECK_OK(IncludedFields(index, key));
  return {};
}

Status CheckTableSpec(const TableSpec& spec) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < spec.key.size(); ++i) {
    const KeyField& field = spec.key[i];
    const auto refused = [&](const char* text) {
      return Error(ErrorCode::kInvalidArgument, text, {{"field", Escaped(field.name)}});
    };
    if (field.name.empty()) return refused("a field of a key has a name");
    if (!names.insert(field.name).second) return refused("a key has each field once");
    if (field.name.size() > KeyField::kMaxNameBytes) return refused("the name of a field of a key is too long");
    const bool has_length = field.type == KeyType::kText || field.type == KeyType::kBinary;
    if ((field.min_length || field.max_length) && !has_length) return refused("only texts and binaries have a length");
    if (field.pattern && field.type != KeyType::kText) return refused("only a text can match a pattern");
    if (field.min_length.value_or(0) > field.max_length.value_or(UINT32_MAX)) {
      return refused("the least length of a field is above its largest");
    }
  }
  if (spec.retention) {
    const KeyField* const field = spec.key.FieldNamed(spec.retention->field);
    if (field == nullptr || field->type != KeyType::kTimestamp) {
      return Error(ErrorCode::kInvalidArgument, "the field of a retention is a timestamp of the key",
                   {{"field", Escaped(spec.retention->field)}});
    }
  }
  if (spec.indexes.size() > TableSpec::kMaxIndexes) {
    return Error(ErrorCode::kTooLarge, "a table has too many indexes",
                 {{"limit", "max_indexes"}, {"at_most", std::to_string(TableSpec::kMaxIndexes)}});
  }
  std::set<std::string_view> index_names;
  for (const IndexSpec& index : spec.indexes) {
    KVARTS_CHECK_OK(CheckIndexSpec(index, spec.key));
    if (!index_names.insert(index.name).second) {
      return Error(ErrorCode::kInvalidArgument, "two indexes have the same name", {{"index", index.name}});
    }
  }
  return {};
}

}  // namespace kvarts
