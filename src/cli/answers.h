// What the commands that look after a server print of its answers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/json_object.h"

namespace kvarts::cli {

// A column of a table: the field of an item, and its heading.
struct Column {
  std::string_view field;
  std::string_view heading;
};

// A table of objects, with headings in a quiet voice. Texts and numbers as they are, lists with commas between.
std::string TableOf(const std::vector<JsonObject>& items, const std::vector<Column>& columns);
// A line per field, names on the left.
std::string FieldsOf(const JsonObject& object);
// A field for people: texts as they are, lists with commas between, nothing for null and what is not there.
std::string CellOf(const JsonObject& object, std::string_view field);

// Prints the answer as it is if --json was given: true. Else it is for the caller to show.
bool PrintedAsJson(const Arguments& arguments, const Reply& reply);

// Of a write that was answered without a body: "put user:1, version 17…", or the key and the version as JSON.
void PrintWritten(const Arguments& arguments, BytesView key, const Reply& reply, std::string_view done);

// A request with JSON in its body.
Request JsonRequest(std::string method, std::string path, std::string body);

// Waits until a job has ended, with a progress bar, and shows how it ended: the exit code.
Result<int> WaitForJob(Client& client, const Arguments& arguments, const std::string& id);
// What a request that begins a job answered: says so, and waits for it with --wait.
Result<int> FollowJob(Client& client, const Arguments& arguments, const Reply& reply);

}  // namespace kvarts::cli
