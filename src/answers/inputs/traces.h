#pragma once

// Which traces are asked about, how they are read, and reading them.

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
  // The files of the inputs, if already looked up: a folder may have others later.
  std::vector<std::string> files = {};
  unsigned threads = 0;          // 0 = all processors. The answer is the same
  bool allow_truncated = false;  // read what lies before the cut instead of refusing it
  std::string window = {};       // glob of window labels; empty = the iterations found
  std::string part = {};         // stretch to analyze (flow/judged.h); empty = the largest
  std::string cache = {};        // folder of cached forms, "auto" = the user's; empty = none
  std::string kernels = {};      // file of kernel names; empty = the built-in table
  bool keep_op_inputs = false;   // fill Trace::op_inputs; answers that need them ask for them
  // May refuse the files of the inputs before any of them is read.
  std::function<Status(const std::vector<std::string>& files)> accept = {};
  Listener listener = {};
};

// One input with everything that analyses start from.
struct LoadedTrace {
  Trace trace;
  Links links;
  Windows windows;
  // Kernel classes, by the user's rows and then the built-in table.
  std::shared_ptr<const KernelNames> kernels;
  size_t among = 1;  // traces that are read together with it
};

// The files of arguments (ingest/load.h); the listener gets each omitted timeline of Assay.
Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments,
                                             const Listener& listener);
// The request's files or those of its inputs, after they are accepted.
Result<std::vector<std::string>> accepted_files(const TraceRequest& request);

Result<LoadedTrace> load_input(const std::string& path, const TraceRequest& request);
// The same of files[at]. If that file has several processes, traces of these replace it in `files`,
// and the first of them is loaded.
Result<LoadedTrace> load_or_split(std::vector<std::string>& files, size_t at,
                                  const TraceRequest& request);

// True if an unreadable file may be left out: folders and patterns also match files other than
// traces, such as results. A file that was named
// itself is meant. The listener gets a message.
bool skip_input(const TraceRequest& request, const std::string& file, const Error& error);

// Opens the inputs in turn: one trace is in memory at a time, unless `see` keeps it.
Status each_trace(const TraceRequest& request, const std::function<Status(LoadedTrace)>& see);

}  // namespace assay
