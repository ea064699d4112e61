#include <memory>

#include "answers/fleet/fleet.h"
#include "cli/common.h"
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

int run(FleetVerb& verb) {
  if (const Status alone = refuse_several_tasks("fleet", environment_value); !alone) {
    return fail(alone.error());
  }
  if (verb.from.empty() == verb.common.inputs.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "fleet needs traces, or records that assay summarize made: --from RECORDS", "",
                 -1});
  }
  verb.map.traces = traces_of(verb.common);
  verb.map.out = verb.records;
  return write_answer(answer_fleet(verb), verb.common);
}

}  // namespace

void add_fleet_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<FleetVerb>();
  // The short answer is for people at a screen; --full has the tables.
  verb->common.full = false;
  Verb& sub = app.verb(
      "fleet", "A job of any number of ranks: who costs it its time, from small records of each");
  sub.example("assay fleet --from records");
  add_common_options(sub, verb->common, true);
  // A checksum of each of a hundred thousand traces would be another pass over all of them.
  verb->common.tell_files = {};
  sub.declared("traces").required(false);
  sub.flag("--full", verb->common.full, "every section instead of the short answer");
  sub.option("--from", verb->from, "records that assay summarize made: files or folders")
      .called("RECORDS");
  sub.option("--records", verb->records,
             "where the records of the traces are kept, for --from; those that are there already "
             "are not made again")
      .called("DIR");
  sub.option(
         "--hosts", verb->hosts,
         "which ranks share a node: a table \"rank node [rack pod ...]\", or a hostfile of lines "
         "\"HOST slots=N\"")
      .called("FILE");
  sub.option("--least-ranks", verb->least_ranks,
             "share of the job's ranks below which nothing is concluded")
      .between(0.0, 1.0)
      .shows_default();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
