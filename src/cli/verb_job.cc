#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "answers/job/job.h"
#include "base/files.h"
#include "base/real_path.h"
#include "cli/common.h"
#include "cli/job_team.h"
#include "cli/launcher.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "ingest/formats.h"

namespace assay {
namespace {

struct FleetVerb : FleetRequest {
  CommonOptions common;
  std::string records;
};

// Replaces this process by assay-job if that is next to this program; returns only if it is not.
void become_team() {
  const auto own = real_path("/proc/self/exe");
  const auto typed = file_text("/proc/self/cmdline");
  if (!own || !typed) return;
  std::string program = own->substr(0, own->rfind('/') + 1) + "assay-job";
  if (!file_facts(program)) return;
  std::vector<std::string> words = {program};
  bool past_verb = false;
  for (size_t begin = 0; begin < typed->size();) {
    const size_t end = std::min(typed->find('\0', begin), typed->size());
    const std::string word = typed->substr(begin, end - begin);
    begin = end + 1;
    if (past_verb) words.push_back(word);
    past_verb = past_verb || word == "job";
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
}

int run(FleetVerb& verb, const FleetTeam* team) {
  if (team == nullptr) {
    if (tasks_of_step(environment_value) > 1) become_team();
    if (const Status alone = refuse_several_tasks("job", environment_value); !alone) {
      return fail(alone.error());
    }
  }
  if (verb.from.empty() == verb.common.inputs.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "job needs traces, or records that assay summarize made: --summaries RECORDS", "", -1});
  }
  verb.map.traces = traces_of(verb.common);
  verb.map.out = verb.records;
  if (team != nullptr) {
    if (!team->leads) {
      team->follow(verb.map);
      return kExitFine;
    }
    verb.summarize = team->lead;
    // Processes on other machines can access the folder of the output.
    verb.scratch_beside = verb.common.output == "-" ? "assay-job" : verb.common.output;
  }
  return write_answer(answer_job(verb), verb.common);
}

}  // namespace

void add_job_verb(Verb& app, int& exit_code) { add_job_verb(app, exit_code, nullptr); }

void add_job_verb(Verb& app, int& exit_code, const FleetTeam* team) {
  auto verb = std::make_shared<FleetVerb>();
  // The short answer is for terminals; --full adds the tables.
  verb->common.full = false;
  Verb& sub = app.verb(
      "job", "A job of any number of ranks: who costs it its time, from small records of each");
  sub.example("assay job --summaries records");
  add_common_options(sub, verb->common, true);
  // A checksum of each of a hundred thousand traces would read all of them again.
  verb->common.tell_files = {};
  sub.declared("traces").required(false);
  sub.flag("--full", verb->common.full, "every section instead of the short answer");
  sub.option("--summaries", verb->from, "records that assay summarize made: files or folders")
      .called("RECORDS");
  sub.option("--summary-dir", verb->records,
             "where the records of the traces are kept, for --summaries; those that are there already "
             "are not made again")
      .called("DIR");
  sub.option(
         "--hosts", verb->hosts,
         "which ranks share a node: a table \"rank node [rack pod ...]\", or a hostfile of lines "
         "\"HOST slots=N\"")
      .called("FILE");
  sub.option(
         "--parquet", verb->parquet,
         "also all that the records hold, as tables that DuckDB and Spark read: a folder to make "
         "(needs DuckDB; docs/formats/job_tables.md)")
      .called("DIR");
  sub.option("--min-ranks", verb->least_ranks,
             "share of the job's ranks below which nothing is concluded")
      .between(0.0, 1.0)
      .shows_default();
  sub.run([verb, team, &exit_code] { exit_code = run(*verb, team); });
}

}  // namespace assay
