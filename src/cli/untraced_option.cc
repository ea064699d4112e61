#include "cli/untraced_option.h"

#include "cli/options.h"

namespace assay {

void add_untraced_option(Verb& verb, std::string& asked) {
  verb.option("--untraced", asked,
              "the time of one iteration without the profiler (6.11ms), a file with it, or none for "
              "recorded times alone. A file is runs.jsonl, or CSV with trace and untraced_ms. "
              "Default: runs.jsonl in the folder of the trace, else an estimate")
      .called("TIME|FILE");
}

}  // namespace assay
