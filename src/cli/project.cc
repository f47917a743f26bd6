// kvarts project: what datasets are in.
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/table_words.h"

namespace kvarts::cli {
namespace {

const Syntax& ListSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {}, .options = {}, .description = "Lists all projects.\n"});
  return kSyntax;
}

const Syntax& CreateSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"PROJECT"}},
               .options = {IfMissingOption()},
               .description = "Makes a project. Ends with 5 when there is one of this name, unless --if-missing is\n"
                              "given. A name has letters, digits, underscores, dashes and dots.\n\n"
                              "  kvarts project create acme\n",
               .check = &CheckProjectWord});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT"}},
                                         .options = {},
                                         .description = "Shows who a project is. Ends with 4 when there is none.\n",
                                         .check = &CheckProjectWord});
  return kSyntax;
}

const Syntax& RenameSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"PROJECT"}, {"NAME"}},
               .options = {},
               .description = "Gives a project another name, at once, however much is in it.\n",
               .check = &CheckProjectWord});
  return kSyntax;
}

const Syntax& DropSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"PROJECT"}},
               .options = {},
               .description = "Drops a project. Ends with 5 while there are datasets in it.\n",
               .check = &CheckProjectWord});
  return kSyntax;
}

Result<int> RunList(const Arguments& arguments) { return ListNames(arguments, "/projects", "projects"); }

Result<int> RunCreate(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, ProjectUrl(arguments.at(0)));
  return Create(arguments, {.method = "PUT", .path = url});
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, ProjectUrl(arguments.at(0)));
  return ShowFields(arguments, url);
}

Result<int> RunRename(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, ProjectUrl(arguments.at(0)));
  return Rename(arguments, url);
}

Result<int> RunDrop(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, ProjectUrl(arguments.at(0)));
  return Drop(arguments, url);
}

constexpr Command kCommands[] = {
    {"list", "All projects", &ListSyntax, &RunList},
    {"create", "Make a project", &CreateSyntax, &RunCreate},
    {"show", "Who a project is", &ShowSyntax, &RunShow},
    {"rename", "Give it another name", &RenameSyntax, &RunRename},
    {"drop", "Drop a project without datasets", &DropSyntax, &RunDrop},
};

}  // namespace

const Syntax& ProjectSyntax() {
  static const Syntax kSyntax = {.arguments = {},
                                 .options = {},
                                 .description =
                                     "A project holds datasets, and a dataset tables. A table is named by all\n"
                                     "three, as in acme/shop/orders.\n"};
  return kSyntax;
}

std::span<const Command> ProjectCommands() { return kCommands; }

}  // namespace kvarts::cli
