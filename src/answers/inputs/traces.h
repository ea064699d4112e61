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
  // The files behind the inputs, where somebody has looked them up already: a folder may hold
  // others a moment later.
  std::vector<std::string> files = {};
  unsigned threads = 0;          // 0 = all processors. The answer is the same
  bool allow_truncated = false;  // read what lies before the cut instead of refusing it
  std::string window = {};       // glob of window labels; empty = the iterations found
  std::string part = {};         // stretch that is judged (flow/judged.h); empty = the largest
  std::string cache = {};        // folder of cached forms, "auto" = the user's; empty = none
  std::string kernels = {};      // file of kernel names; empty = the built-in table
  bool keep_op_inputs = false;   // fill Trace::op_inputs; answers that need them ask for them
  // May refuse the files behind the inputs before any of them is read.
  std::function<Status(const std::vector<std::string>& files)> accept = {};
  Listener listener = {};
};

// One input with everything that analyses start from.
struct LoadedTrace {
  Trace trace;
  Links links;
  Windows windows;
  // What the kernels are, by the built-in table with the user's rows in front.
  std::shared_ptr<const KernelNames> kernels;
  size_t among = 1;  // traces that are read together with it
};

// The files behind arguments (ingest/load.h); the listener is told of each of Assay's own timelines
// that was left out.
Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments,
                                             const Listener& listener);
// The request's files or those behind its inputs, once they are accepted.
Result<std::vector<std::string>> accepted_files(const TraceRequest& request);

Result<LoadedTrace> load_input(const std::string& path, const TraceRequest& request);
// The same of files[at]. Where that file holds several processes, traces of these take its place in
// `files`, and the first of them is loaded.
Result<LoadedTrace> load_or_split(std::vector<std::string>& files, size_t at,
                                  const TraceRequest& request);

// Whether a file may be left out that could not be read: folders and patterns also give files that
// hold something else than a trace, such as results that lie beside it. A file that was named
// itself is meant. The listener is told.
bool skip_input(const TraceRequest& request, const std::string& file, const Error& error);

// Opens the inputs in turn: one trace is in memory at a time, unless `see` keeps it.
Status each_trace(const TraceRequest& request, const std::function<Status(LoadedTrace)>& see);

}  // namespace assay
