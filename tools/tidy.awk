# The rules of tools/tidy that read C++ line by line. Works in any awk.
#
# Comments, strings and preprocessor lines are blanked before braces are matched, so this is no parser, and need not be: it
# sees namespaces, types and function bodies of code that clang-format has laid out.

function report(rule, line, text) { printf "%s\t%s:%d: %s\n", rule, file, line, text }

# The folder that decides what a file may include: "base", "engine/rocksdb", "model/table", "include", "tests"...
function layer_of(path,    part, n) {
  sub(/^src\//, "", path)
  n = split(path, part, "/")
  if (part[1] ~ /^(engine|model|protocol|net)$/ && n > 2) return part[1] "/" part[2]
  return part[1]
}

function rank_of(layer) {
  if (layer in rank) return rank[layer]
  if (layer ~ /^engine\//) return 4
  if (layer ~ /^model\//) return 6
  if (layer ~ /^protocol\//) return 7
  return -1
}

# Why a file of layer `from` may not include "path"; empty when it may.
function refusal(from, path,    to) {
  if (from == "include") return path ~ /^kvarts\// ? "" : "a public header includes only the standard library and kvarts/"
  if (from == "examples") return path ~ /^kvarts\// ? "" : "an example uses the public headers alone"
  if (path !~ /\//) return "write the path from src/"
  to = layer_of(path)
  # base takes over the vocabulary that users see too; the layers above have it from base.
  if (to == "kvarts") return from == "base" || from == "api" || from == "cli" ? "" : "only base, api and cli use the public headers"
  if (from == to || from == "cli") return ""
  if (from ~ /^net/) {
    if (to == "base" || to == "encoding" || (from == "net" && to ~ /^net\//)) return ""
    return to ~ /^net/ ? from " is below " to : "net knows base and encoding only"
  }
  if (from == "api") return rank_of(to) >= 0 && rank_of(to) <= rank["model"] ? "" : "api uses models and below"
  if (to ~ /^net/) return from ~ /^(protocol|server)/ ? "" : "only protocol and server use net"
  if (rank_of(from) < 0) return from " is in no known layer (tools/tidy.awk has the list)"
  if (rank_of(to) < 0) return to " is not a layer that " from " may use"
  if (rank_of(to) > rank_of(from)) return from " is below " to
  if (from ~ /^engine\// && to ~ /^engine\//) return "engines do not know each other"
  if (from ~ /^model\// && to ~ /^model\// && to != "model/catalog") return "models share only model/catalog"
  return ""
}

function check_include(    path, why) {
  if (is_test || layer ~ /^(tests|fuzz|bench)$/) return
  path = $0
  if (path ~ /^#[ \t]*include[ \t]*"/) {
    sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
    why = refusal(layer, path)
    if (why != "") report("includes", FNR, "\"" path "\": " why)
  } else {
    sub(/^[^<]*</, "", path); sub(/>.*/, "", path)
    if (layer == "include" && path ~ /[\/.]/ && path !~ /^kvarts\//)
      report("includes", FNR, "<" path ">: a public header includes only the standard library and kvarts/")
    if (path ~ /^rocksdb\// && layer != "engine/rocksdb")
      report("includes", FNR, "<" path ">: RocksDB stays behind engine/rocksdb")
  }
}

# The line without comments and with empty literals. Raw strings and block comments may span lines.
function code_of(line,    out, at) {
  out = ""
  while (1) {
    if (in_block) {
      at = index(line, "*/")
      if (!at) return out
      line = substr(line, at + 2); in_block = 0
    }
    if (raw_end != "") {
      at = index(line, raw_end)
      if (!at) return out
      line = "\"\"" substr(line, at + length(raw_end)); raw_end = ""
    }
    # The first of: a string, a character, a digit separator, a comment.
    if (!match(line, /R"[^(]*\(|"([^"\\]|\\.)*"|[0-9a-fA-F]'[0-9a-fA-F]|'([^'\\]|\\.)[^']*'|\/\/|\/\*/)) return out line
    out = out substr(line, 1, RSTART - 1)
    token = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    if (token == "//") return out
    if (token == "/*") in_block = 1
    else if (token ~ /^R"/) raw_end = ")" substr(token, 3, length(token) - 3) "\""
    else if (token ~ /^"/) out = out "\"\""
    else if (token ~ /^'/) out = out "0"
    else { out = out "0"; line = substr(token, 3) line }
  }
}

# What a brace opens, from the code since the last ; { or }: n(amespace), t(ype), i(nitialiser) or f(unction).
function kind_of(text,    before) {
  if (text ~ /(^|[^A-Za-z0-9_])namespace([^A-Za-z0-9_]|$)/ || text ~ /extern[ \t]*""[ \t]*$/) return "n"
  if (text ~ /=[ \t]*$/) return "i"
  do { before = text; gsub(/<[^<>]*>/, "", text) } while (text != before)
  if (text ~ /(^|[^A-Za-z0-9_])(class|struct|union|enum)([^A-Za-z0-9_]|$)/ &&
      text !~ /\)[ \t]*((const|noexcept|override|final)[ \t]*)*$/) return "t"
  return "f"
}

function open_brace(    kind) {
  kind = depth > 0 && (scope[depth] == "f" || scope[depth] == "i") ? "-" : kind_of(head)
  depth++
  scope[depth] = kind
  opened[depth] = FNR
  excused[depth] = head_excused
  sub(/^[ \t]+/, "", head)
  names[depth] = substr(head, 1, 60)
  head = ""
}

function close_brace(    lines) {
  head = ""
  if (depth == 0) return
  lines = FNR - opened[depth] - 1
  if (scope[depth] == "f" && lines > 70 && !excused[depth])
    report("function_length", opened[depth], names[depth] " has " lines " lines")
  depth--
}

function scan_braces(code,    at) {
  if (code ~ /^[ \t]*(public|private|protected|signals)[ \t]*:[ \t]*$/) return
  while (match(code, /[{};]/)) {
    at = RSTART
    note_head(substr(code, 1, at - 1))
    if (substr(code, at, 1) == "{") open_brace()
    else if (substr(code, at, 1) == "}") close_brace()
    else head = ""
    code = substr(code, at + 1)
  }
  note_head(code)
}

function note_head(text) {
  if (head == "" && text !~ /[^ \t]/) return
  if (head == "") head_excused = excuse_line == FNR - 1
  head = head " " text
}

# A wait stands in a statement of its own (docs/decisions/0012-the-server.md says why).
function check_await(code,    before, opened_here, closed_here) {
  before = code
  sub(/co_await.*/, "", before)
  opened_here = gsub(/\(/, "(", before)
  closed_here = gsub(/\)/, ")", before)
  if (opened_here > closed_here || before ~ /&&|\|\||\?|co_return|switch/) report("awaits", FNR, "a wait within an expression")
}

# What is said in SQL stands in the dialect of its engine, where another one can be put beside it.
function check_sql() {
  if (is_test || layer !~ /^engine\// || file ~ /\/dialect\.(cc|h)$/) return
  if ($0 ~ /R"sql\(|"([^"]*[^A-Z"])?(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|BEGIN|COMMIT|SET|WHERE)([^A-Za-z_]|$)/)
    report("sql", FNR, "SQL outside of the dialect")
}

function finish_file(    limit) {
  if (file == "") return
  limit = is_test || layer == "tests" ? 700 : 500
  if (last > limit && !long_file) report("file_length", last, last " lines, over " limit)
  if (file ~ /\.h$/) {
    if (!has_pragma) report("header", 1, "no #pragma once")
    if (!opens_with_comment) report("header", 1, "does not open with a comment")
  }
}

BEGIN {
  split("base encoding document engine - core model protocol server", order, " ")
  for (i in order) if (order[i] != "-") rank[order[i]] = i - 1
}

FNR == 1 {
  finish_file()
  file = FILENAME
  layer = layer_of(file)
  is_test = file ~ /_test\.cc$/
  may_print = is_test || layer ~ /^(cli|tests|bench|examples|fuzz)$/
  long_file = has_pragma = in_block = depth = 0
  raw_end = head = ""
  excuse_line = -1
  in_macro = 0
  opens_with_comment = $0 ~ /^\/[\/*]/
}

{ last = FNR }
/^\/\/ tidy: long file because [^ ]/ { long_file = 1 }
/^[ \t]*\/\/ tidy: long function because [^ ]/ { excuse_line = FNR }
/^#pragma once/ { has_pragma = 1 }

in_macro || (/^[ \t]*#/ && !in_block && raw_end == "") {
  in_macro = /\\$/
  if (/^#[ \t]*include/) check_include()
  next
}

{
  check_sql()
  code = code_of($0)
  scan_braces(code)
  if (!may_print && code ~ /(^|[^A-Za-z0-9_])(std::cout|std::cerr|(v|f|vf)?printf[ \t]*\(|f?puts[ \t]*\(|fmt::print[ \t]*\()/)
    report("output", FNR, "prints")
  if (code ~ /(^|[^A-Za-z0-9_])co_await[ \t(]/) check_await(code)
}

END { finish_file() }
