// kvarts dataset: what tables are in.
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/table_words.h"

namespace kvarts::cli {
namespace {

const Syntax& ListSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT"}},
                                         .options = {},
                                         .description = "Lists the datasets of a project.\n",
                                         .check = &CheckProjectWord});
  return kSyntax;
}

const Syntax& CreateSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"PROJECT/DATASET"}},
               .options = {IfMissingOption()},
               .description = "Makes a dataset in a project. Ends with 4 when there is no such project, and with 5\n"
                              "when there is a dataset of this name, unless --if-missing is given.\n\n"
                              "  kvarts dataset create acme/shop\n",
               .check = &CheckDatasetWord});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT/DATASET"}},
                                         .options = {},
                                         .description = "Shows who a dataset is. Ends with 4 when there is none.\n",
                                         .check = &CheckDatasetWord});
  return kSyntax;
}

const Syntax& RenameSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT/DATASET"}, {"NAME"}},
                                         .options = {},
                                         .description = "Gives a dataset another name in its project, at once.\n\n"
                                                        "  kvarts dataset rename acme/shop store\n",
                                         .check = &CheckDatasetWord});
  return kSyntax;
}

const Syntax& DropSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT/DATASET"}},
                                         .options = {},
                                         .description = "Drops a dataset. Ends with 5 while there are tables in it.\n",
                                         .check = &CheckDatasetWord});
  return kSyntax;
}

Result<int> RunList(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, ProjectUrl(arguments.at(0)));
  return ListNames(arguments, url + "/datasets", "datasets");
}

Result<int> RunCreate(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, DatasetUrl(arguments.at(0)));
  return Create(arguments, {.method = "PUT", .path = url});
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, DatasetUrl(arguments.at(0)));
  return ShowFields(arguments, url);
}

Result<int> RunRename(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, DatasetUrl(arguments.at(0)));
  return Rename(arguments, url);
}

Result<int> RunDrop(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, DatasetUrl(arguments.at(0)));
  return Drop(arguments, url);
}

constexpr Command kCommands[] = {
    {"list", "The datasets of a project", &ListSyntax, &RunList},
    {"create", "Make a dataset", &CreateSyntax, &RunCreate},
    {"show", "Who a dataset is", &ShowSyntax, &RunShow},
    {"rename", "Give it another name", &RenameSyntax, &RunRename},
    {"drop", "Drop a dataset without tables", &DropSyntax, &RunDrop},
};

}  // namespace

const Syntax& DatasetSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description = "A dataset holds tables, and is named behind its project: acme/shop.\n"};
  return kSyntax;
}

std::span<const Command> DatasetCommands() { return kCommands; }

}  // namespace kvarts::cli
