#include "cli/man.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/option_table.h"

namespace kvarts::cli {
namespace {

// Text of a line. What stands between backquotes is bold.
std::string Roff(std::string_view text) {
  std::string out;
  bool bold = false;
  // At the beginning of a line these would be a request.
  if (text.starts_with('.') || text.starts_with('\'')) out.append("\\&");
  for (const char c : text) {
    switch (c) {
      case '\\':
        out.append("\\e");
        break;
      case '-':
        out.append("\\-");
        break;
      case '\'':
        out.append("\\(aq");
        break;
      case '^':
        out.append("\\(ha");
        break;
      case '~':
        out.append("\\(ti");
        break;
      case '`':
        bold = !bold;
        out.append(bold ? "\\fB" : "\\fR");
        break;
      default:
        out.push_back(c);
    }
  }
  return bold ? out + "\\fR" : out;
}

// Lines of text, paragraphs between empty lines, and lines behind blanks as they are.
std::string Paragraphs(std::string_view text) {
  std::string out;
  bool literal = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool indented = line.starts_with("  ");
    if (literal && !indented) out.append(".RE\n.fi\n");
    if (!literal && indented) out.append(".PP\n.nf\n.RS 4\n");
    literal = indented;
    if (line.empty()) {
      if (!text.starts_with("  ")) out.append(".PP\n");
    } else {
      out.append(Roff(indented ? line.substr(2) : line)).append("\n");
    }
  }
  return literal ? out + ".RE\n.fi\n" : out;
}

std::string Head(std::string_view page, int section, std::string_view name, std::string_view summary) {
  return fmt::format(".TH \"{}\" \"{}\" \"\" \"Kvarts {}\" \"{}\"\n.SH NAME\n{} \\- {}\n", Roff(page), section,
                     KVARTS_VERSION, section == 1 ? "User Commands" : "File Formats", Roff(name), Roff(summary));
}

// "Verify every file" as it stands behind a dash.
std::string Small(std::string_view summary) {
  std::string out(summary);
  if (!out.empty()) out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  return out;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

constexpr std::string_view kExitStatus = R"(.SH EXIT STATUS
.TP
0
Done.
.TP
1
The store or the server refused, or the system failed.
.TP
2
The command line makes no sense.
.TP
3
A check found something.
.TP
4
What was named is not there: a key, a namespace, a token, a job.
.TP
5
A condition of the write does not hold, or what is to be made is there already.
.PP
With \fB\-\-json\fR, where a command has it, an error is a JSON object on the standard error: the problem as the server
sent it, or one with the same members \fBtype\fR and \fBdetail\fR.
)";

std::string ManOfOption(const Option& option) {
  const ServerOptions defaults;
  const std::vector<std::string_view> choices = option.Choices();
  std::string out =
      fmt::format(".TP\n\\fB{}\\fR = {}\n{}", Roff(option.Key()), Roff(option.TomlValue(defaults)), Roff(option.help));
  if (!choices.empty()) out.append(fmt::format("; one of {}", Roff(fmt::format("{}", fmt::join(choices, ", ")))));
  if (!option.Range().empty()) out.append(fmt::format("; {}", Roff(option.Range())));
  return out + fmt::format(".\n.br\n{}, {}\n", Roff("--" + option.Flag()), Roff(option.Environment()));
}

std::string Synopsis(std::string_view name, const Syntax& syntax) {
  return fmt::format("\\fBkvarts {}\\fR {}\n", Roff(name), Roff(UsageLine(syntax)));
}

std::string ManOfOptions(const Syntax& syntax) {
  std::string out;
  for (const OptionSyntax& option : syntax.options) {
    out.append(fmt::format(".TP\n\\fB{}\\fR\n{}.\n", Roff(Written(option)), Roff(HelpOf(option))));
  }
  return out;
}

}  // namespace

std::string ManOverview(std::span<const Command> commands) {
  std::string page = Head("KVARTS", 1, "kvarts", "a key-value database");
  page.append(".SH SYNOPSIS\n.B kvarts\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n");
  page.append("Kvarts is an ordered, versioned, expiring, transactional key\\-value database.\n");
  page.append(
      "Every command is explained by \\fBkvarts help\\fR \\fICOMMAND\\fR, and has a page of its own.\n.SH COMMANDS\n");
  for (const Command& command : commands) {
    page.append(fmt::format(".TP\n.BR kvarts\\-{} (1)\n{}.\n", Roff(command.name), Roff(command.summary)));
  }
  page.append(kExitStatus);
  page.append(".SH ENVIRONMENT\n.TP\nNO_COLOR\nNo colours on a terminal.\n.TP\nKVARTS_SERVER\n");
  page.append("The server that commands talk to, if \\-\\-server does not name one.\n.TP\nKVARTS_TOKEN\n");
  page.append("The token that they show, if \\-\\-token and \\-\\-token\\-file do not.\n.TP\nKVARTS_CONFIG\n");
  page.append("The configuration file of the server. Each of its options has a variable too, see\n");
  return page.append(".BR kvarts.toml (5).\n.SH SEE ALSO\n.BR kvarts.toml (5)\n");
}

std::string ManOfCommand(const Command& command) {
  const Syntax& syntax = command.syntax();
  const std::span<const Command> subcommands = SubcommandsOf(command);
  const std::string name = fmt::format("kvarts-{}", command.name);
  std::string page = Head(Upper(name), 1, name, Small(command.summary));
  page.append(".SH SYNOPSIS\n");
  if (subcommands.empty()) page.append(Synopsis(command.name, syntax));
  for (size_t i = 0; i < subcommands.size(); ++i) {
    if (i > 0) page.append(".br\n");
    page.append(Synopsis(fmt::format("{} {}", command.name, subcommands[i].name), subcommands[i].syntax()));
  }
  page.append(".SH DESCRIPTION\n").append(Paragraphs(syntax.description));
  if (!syntax.options.empty()) page.append(".SH OPTIONS\n").append(ManOfOptions(syntax));
  if (!subcommands.empty()) page.append(".SH COMMANDS\n");
  for (const Command& sub : subcommands) {
    page.append(fmt::format(".SS kvarts {} {}\n{}.\n.PP\n", Roff(command.name), Roff(sub.name), Roff(sub.summary)));
    page.append(Paragraphs(sub.syntax().description)).append(ManOfOptions(sub.syntax()));
  }
  return page.append(kExitStatus).append(".SH SEE ALSO\n.BR kvarts (1)\n");
}

std::string ManOfConfig() {
  std::string page = Head("KVARTS.TOML", 5, "kvarts.toml", "the configuration of a Kvarts server");
  page.append(".SH DESCRIPTION\n");
  page.append(
      Paragraphs("The file that --config or KVARTS_CONFIG names, in TOML. An environment variable wins over it, and\n"
                 "a flag over both; `kvarts config` shows what counts and where it came from, `kvarts config\n"
                 "--default` prints a file to begin with, and `kvarts config --check FILE` says what is wrong with\n"
                 "one.\n\n"
                 "Sizes are numbers of bytes, or have a unit: KiB, MiB, GiB, TiB. Durations are seconds, or have a\n"
                 "unit: us, ms, s, m, h, d. Lists are separated by commas in the environment; their flags are\n"
                 "given several times. Each option is shown with its default, its flag and its variable.\n"));
  page.append(".SH OPTIONS\n");
  std::string_view section;
  for (const Option& option : OptionTable()) {
    if (option.Section() != section) {
      section = option.Section();
      page.append(fmt::format(".SS [{}]\n", Roff(section)));
    }
    page.append(ManOfOption(option));
  }
  return page.append(".SH SEE ALSO\n.BR kvarts (1),\n.BR kvarts\\-config (1)\n");
}

}  // namespace kvarts::cli
