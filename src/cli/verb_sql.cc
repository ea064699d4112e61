#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "answers/tables.h"
#include "base/files.h"
#include "base/output_file.h"
#include "base/platform/platform.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/output_format.h"
#include "cli/requests_option.h"
#include "cli/verbs.h"
#include "cli/workbook_file.h"
#include "query/duckdb.h"
#include "query/table_text.h"
#include "text/plain_text.h"

namespace assay {
namespace {

constexpr size_t kReaderRows = 100;

struct SqlVerb {
  CommonOptions common;
  ReportRequest request;
  RequestsFlags requests;
  std::string command;
  std::string memory;
  int64_t limit = -1;  // -1 = kReaderRows for people, all rows for programs
  double timeout_s = 0;
  bool allow_files = false;
};

constexpr const char* kHelp =
    "  select ...;       any SQL of DuckDB; ends with a semicolon\n"
    "  .tables           all tables with their rows\n"
    "  .schema [TABLE]   columns with type, unit and meaning\n"
    "  .help, .quit\n"
    "Times are integer nanoseconds. docs/sql.md has examples.\n";

bool for_people(Format format) {
  return format == Format::kTerminal || format == Format::kMarkdown;
}

// The traces, and a database over the requested part of them.
class SqlSession {
 public:
  static Result<SqlSession> open(const SqlVerb& verb) {
    SqlSession session(verb);
    // A workbook gets all rows, like every format for programs.
    session.format_ = Format::kJson;
    if (!wants_workbook(verb.common)) {
      ASSAY_TRY_ASSIGN(session.format_, output_format(verb.common));
    }
    // Report a missing database library before the traces are read.
    ASSAY_TRY(Database::open(Catalog{}, session.database_options()));
    ASSAY_TRY_ASSIGN(QueryInputs inputs, QueryInputs::load(verb.common));
    session.inputs_ = std::make_unique<QueryInputs>(std::move(inputs));
    ASSAY_TRY_ASSIGN(session.database_,
                     Database::open(session.inputs_->trace_tables(), session.database_options()));
    return session;
  }

  Result<const Catalog*> catalog() {
    ASSAY_TRY(analyse());
    return everything_;
  }
  bool data_lost() const { return inputs_->data_lost(); }

  // Runs one statement and writes its rows.
  Status run(const std::string& sql) {
    PhaseClock clock(verb_.common.listener);
    if (mentions_all_tables(sql)) ASSAY_TRY(analyse());
    auto rows = database_->query(sql);
    // A missing table may be the result of an analysis.
    if (!rows && everything_ == nullptr && is_catalog_error(rows.error())) {
      ASSAY_TRY(analyse());
      rows = database_->query(sql);
    }
    if (!rows) return rows.take_error();
    Status written = format_ == Format::kCsv ? write_csv(**rows) : write_rows(**rows);
    clock.mark("query");
    return written;
  }

 private:
  explicit SqlSession(const SqlVerb& verb) : verb_(verb) {}

  DatabaseOptions database_options() const {
    return {.memory_limit = verb_.memory,
            .threads = std::max(1u, verb_.common.threads),
            .timeout_s = verb_.timeout_s,
            .allow_files = verb_.allow_files};
  }

  Status analyse() {
    if (everything_ != nullptr) return Ok{};
    ASSAY_TRY_ASSIGN(everything_, inputs_->everything(verb_.request));
    database_.reset();
    ASSAY_TRY_ASSIGN(database_, Database::open(*everything_, database_options()));
    return Ok{};
  }

  static bool is_catalog_error(const Error& error) {
    return error.message.find("Catalog Error") != std::string::npos;
  }

  // True for statements that list tables: they need the analyses' tables, too.
  static bool mentions_all_tables(const std::string& sql) {
    std::string lower = sql;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word : {"show", "describe", "duckdb_", "information_schema", "pg_catalog",
                             "pragma", "sqlite_master"}) {
      if (lower.find(word) != std::string::npos) return true;
    }
    return false;
  }

  size_t limit() const {
    if (verb_.limit >= 0) return static_cast<size_t>(verb_.limit);
    return for_people(format_) ? kReaderRows : 0;
  }

  // Reads rows up to the limit. Sets `more` if the result has further rows.
  Result<std::vector<Row>> take_rows(QueryRows& rows, bool& more) const {
    std::vector<Row> taken;
    const size_t most = limit();
    for (;;) {
      ASSAY_TRY_ASSIGN(std::vector<Row> some, rows.next());
      if (some.empty()) return taken;
      for (Row& row : some) {
        if (most > 0 && taken.size() == most) {
          more = true;
          return taken;
        }
        taken.push_back(std::move(row));
      }
    }
  }

  Status write_rows(QueryRows& rows) {
    bool more = false;
    Table table{.key = "rows", .columns = rows.columns(), .terminal_limit = 0};
    ASSAY_TRY_ASSIGN(table.rows, take_rows(rows, more));
    // In JSON, a dot would create a nested object.
    for (Column& column : table.columns)
      std::replace(column.key.begin(), column.key.end(), '.', '_');
    Document document = new_document("");
    if (!for_people(format_)) document.inputs = inputs_->inputs();
    const size_t count = table.rows.size();
    Section section{.key = "", .title = "", .blocks = {std::move(table)}};
    if (more && for_people(format_)) {
      section.blocks.push_back(
          Prose{.paragraphs = {fmt::format("The first {} rows. --limit 0 shows all.", count)},
                .show = Show::kReadersOnly});
    } else if (more) {
      section.blocks.push_back(
          Facts{.items = {{.key = "rows_cut_at", .label = "", .value = count}}});
    }
    document.sections.push_back(std::move(section));
    if (write_document(document, verb_.common, false) == kExitFine) return Ok{};
    return Error{ErrorCode::kIo, "the result was not written", "", -1};
  }

  // Writes row by row, because a result may have any number of rows.
  Status write_csv(QueryRows& rows) {
    ASSAY_TRY_ASSIGN(OutputFile file, OutputFile::open(verb_.common.output));
    std::string text;
    for (const Column& column : rows.columns()) {
      if (&column != rows.columns().data()) text += ',';
      append_csv_text(column.title, text);
    }
    text += '\n';
    size_t left = limit() == 0 ? SIZE_MAX : limit();
    while (left > 0 && !file.reader_gone()) {
      ASSAY_TRY(file.write(text));
      text.clear();
      ASSAY_TRY_ASSIGN(const std::vector<Row> some, rows.next());
      if (some.empty()) break;
      for (const Row& row : some) {
        if (left-- == 0) break;
        for (const Value& value : row) {
          if (&value != row.data()) text += ',';
          append_csv(value, text);
        }
        text += '\n';
        if (left == 0) break;
      }
    }
    ASSAY_TRY(file.write(text));
    return file.finish();
  }

  const SqlVerb& verb_;
  Format format_ = Format::kTerminal;
  std::unique_ptr<QueryInputs> inputs_;
  const Catalog* everything_ = nullptr;
  std::unique_ptr<Database> database_;
};

Status print_tables(SqlSession& session) {
  ASSAY_TRY_ASSIGN(const Catalog* catalog, session.catalog());
  for (const Relation& relation : catalog->relations) {
    fmt::print("{:<36} {:>10}  {}\n", relation.name, relation.rows(), clean_text(relation.meaning));
  }
  return Ok{};
}

Status print_schema(SqlSession& session, const std::string& wanted) {
  ASSAY_TRY_ASSIGN(const Catalog* catalog, session.catalog());
  if (!wanted.empty() && catalog->find(wanted) == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "no table " + wanted + "; .tables lists them", "",
                 -1};
  }
  for (const Relation& relation : catalog->relations) {
    if (!wanted.empty() && relation.name != wanted) continue;
    fmt::print("{}: {}\n", relation.name, clean_text(relation.meaning));
    fmt::print("  {:<28} {:<8} {:<9} {}\n", "rank", "BIGINT", "", "which input");
    for (const RelationColumn& column : relation.columns) {
      fmt::print("  {:<28} {:<8} {:<9} {}\n", column.name, sql_type(column.type), column.unit,
                 clean_text(column.meaning));
    }
  }
  return Ok{};
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Runs a command such as ".schema ops". quit: set by .quit.
Status dot_command(SqlSession& session, const std::string& line, bool& quit) {
  const std::string text = trimmed(line);
  const size_t space = text.find(' ');
  const std::string name = text.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : trimmed(text.substr(space));
  if (name == ".tables") return print_tables(session);
  if (name == ".schema") return print_schema(session, rest);
  if (name == ".quit" || name == ".exit") {
    quit = true;
    return Ok{};
  }
  if (name != ".help") {
    return Error{ErrorCode::kInvalidArgument, "no command " + name + "; .help lists them", "", -1};
  }
  fmt::print("{}", kHelp);
  return Ok{};
}

// Runs statements and commands from standard input. On a terminal, errors are printed and the shell
// continues; otherwise the first error ends it.
int run_shell(SqlSession& session) {
  const bool terminal = platform::is_terminal(STDIN_FILENO);
  if (terminal) fmt::print("SQL over traces. .help helps, .tables lists the tables.\n");
  std::string pending;
  bool quit = false;
  int exit_code = kExitFine;
  const auto settle = [&](const Status& status) {
    std::fflush(stdout);
    if (status) return;
    const int code = fail_in_lines(status.error());
    if (terminal) return;
    exit_code = code;
    quit = true;
  };
  std::string line;
  while (!quit) {
    if (terminal) fmt::print("{}", pending.empty() ? "assay> " : "   ...> ");
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) break;
    if (pending.empty() && trimmed(line).starts_with('.')) {
      settle(dot_command(session, line, quit));
      continue;
    }
    pending += line + "\n";
    Statements statements = split_statements(pending);
    for (const std::string& sql : statements.complete) {
      if (!quit) settle(session.run(sql));
    }
    pending = std::move(statements.rest);
  }
  if (!quit && !pending.empty()) settle(session.run(pending));
  return exit_code;
}

int run_command(SqlSession& session, const SqlVerb& verb) {
  Statements statements = split_statements(verb.command);
  if (!statements.rest.empty()) statements.complete.push_back(statements.rest);
  if (statements.complete.empty()) {
    return fail(Error{ErrorCode::kInvalidArgument, "no statement to run", "", -1});
  }
  if (statements.complete.size() > 1 && verb.common.output != "-") {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "-o takes the rows of one statement, and there are several", "", -1});
  }
  for (const std::string& sql : statements.complete) {
    if (Status status = session.run(sql); !status) return fail_in_lines(status.error());
  }
  return kExitFine;
}

// True for text with spaces or similar, and for one-word statements such as "vacuum"; missing files
// usually contain a dot or slash.
bool may_be_sql(const std::string& text) {
  if (text.find_first_of(" \n\t;(") != std::string::npos) return true;
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c == '_';
  });
}

// The last argument is the statement, unless it is an existing file.
void take_command(SqlVerb& verb) {
  if (!verb.command.empty() || verb.common.inputs.size() < 2) return;
  const std::string& last = verb.common.inputs.back();
  if (!may_be_sql(last) || file_exists(last)) return;
  verb.command = last;
  verb.common.inputs.pop_back();
}

int run(SqlVerb& verb) {
  take_command(verb);
  const auto files = verb.common.inputs;
  if (verb.command.empty() && std::count(files.begin(), files.end(), "-") > 0) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "standard input is the trace: give the statement as an argument", "", -1});
  }
  if (Status status = check_output(verb.common, files); !status) return fail(status.error());
  auto session = SqlSession::open(verb);
  if (!session) return fail(session.error());
  const int exit_code = verb.command.empty() ? run_shell(*session) : run_command(*session, verb);
  if (exit_code != kExitFine) return exit_code;
  return exit_code_of_loss(session->data_lost(), verb.common, "table import_log");
}

}  // namespace

void add_sql_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<SqlVerb>();
  Verb& sub =
      app.verb("sql", "Query a trace and its analyses in SQL, in DuckDB");
  sub.example("assay sql trace.json.gz \"select name, dur_ns from kernels limit 5\"");
  sub.example("assay sql trace.json.gz", "line by line");
  add_common_options(sub, verb->common, true);
  verb->common.tell_files = {};  // an answer of SQL lists its inputs if it is data
  sub.option("-c,--command", verb->command,
             "the statements; without it the last argument, else standard input")
      .called("SQL");
  sub.option("--limit", verb->limit,
             "rows shown; 0 = all. Default: 100 on a terminal and in Markdown, else all")
      .at_least_zero();
  sub.option("--memory", verb->memory,
             "what DuckDB may use, e.g. 4GB; nothing is ever spilled to disk")
      .called("SIZE");
  sub.option("--timeout", verb->timeout_s, "seconds that a statement may take; 0 = any time")
      .unit("s")
      .at_least_zero();
  sub.flag("--allow-files", verb->allow_files,
           "let SQL read and write files (read_csv, COPY); otherwise it sees the traces only");
  sub.option("--floor", verb->request.floor,
             "launch time of an empty kernel (see assay launch --help)")
      .called("FLOOR");
  add_requests_options(sub, verb->requests);
  sub.run([verb, &exit_code] {
    verb->request.traces = verb->common;
    const Status requests = set_requests(verb->requests, verb->request);
    exit_code = requests ? run(*verb) : fail(requests.error());
  });
}

}  // namespace assay
