#pragma once

// Which traces to analyze and how to read them.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"
#include "kernels/names.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct TraceRequest {
  std::vector<std::string> inputs = {};  // files, folders, patterns, "-" for standard input
  // The files of the inputs if already resolved, because a folder may change later.
  std::vector<std::string> files = {};
  unsigned threads = 0;          // 0 = all processors; does not affect the answer
  bool allow_truncated = false;  // read the complete part of truncated files
  std::string window = {};       // glob of window labels; empty = detected iterations
  std::string part = {};         // part of the run to analyze (flow/judged.h); empty = largest
  std::string cache = {};        // folder of the trace cache, "auto" = the user's; empty = none
  std::string kernels = {};      // file of kernel name rules; empty = built-in table only
  bool keep_op_inputs = false;   // fill Trace::op_inputs; set by answers that need them
  std::string execution_trace = {};  // file with inputs of operators that the trace lacks
  // Called with the files before any is read; an error rejects the request.
  std::function<Status(const std::vector<std::string>& files)> accept = {};
  Listener listener = {};
};

// One trace with everything that analyses need.
struct LoadedTrace {
  Trace trace;
  Links links;
  Windows windows;
  // Kernel classes from the user's rules, then from the built-in table.
  std::shared_ptr<const KernelNames> kernels;
  size_t among = 1;  // number of traces read together with this one, itself included
};

// The files that the arguments name (ingest/load.h). The listener is notified of each omitted
// timeline that Assay wrote.
Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments,
                                             const Listener& listener);
// The request's files, or those of its inputs, after `accept`.
Result<std::vector<std::string>> accepted_files(const TraceRequest& request);

Result<LoadedTrace> load_input(const std::string& path, const TraceRequest& request);
// Loads files[at]. If it holds several processes, replaces it in `files` by one entry per process
// and loads the first.
Result<LoadedTrace> load_or_split(std::vector<std::string>& files, size_t at,
                                  const TraceRequest& request);

// True if an unreadable file may be skipped, with a message to the listener. Files found in folders
// or by patterns may be something else, such as results. Files named explicitly are never skipped.
bool skip_input(const TraceRequest& request, const std::string& file, const Error& error);

// Opens the inputs in turn; one trace is in memory at a time unless `see` keeps it.
Status each_trace(const TraceRequest& request, const std::function<Status(LoadedTrace)>& see);

}  // namespace assay
