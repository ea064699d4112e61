#pragma once

// What the names of operators, frames and labels tell about the host, and which work is
// communication. The only place in flow/ that reads names.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flow/cause.h"
#include "kernels/names.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct HostName {
  bool input = false;    // a data loader: whatever runs inside loads data
  bool cold = false;     // a compiler or autotuner: whatever runs inside is a one-off cost
  bool sync = false;     // the host waits for the device
  bool outside = false;  // the host waits for the outside: a poll, a receive, a sleep
  bool lock = false;     // the host waits for a lock or condition: for the outside if below a queue
  bool queue = false;    // takes from a queue or a socket: what is below it may wait for it
  bool read = false;     // reads: for the outside if below a queue
  bool step = false;     // the mark of an iteration: says nothing of what was done in it
};
HostName classify_host_name(std::string_view name);
// The same of a call of the operating system's library, by its exact name ("epoll_wait").
HostName classify_system_call(std::string_view name);
// Calls of the operating system, of MPI, and labels of communication on the host, in which a thread
// waits for others or for the outside.
bool is_waiting_label(std::string_view name);
// That, or a function that waits for another thread or the outside.
bool waits_for_others(std::string_view name);

// classify_host_name of any text of a trace, each asked for once.
class HostNames {
 public:
  explicit HostNames(const Trace& trace)
      : trace_(trace), known_(trace.strings.size()), asked_(trace.strings.size(), false) {}
  const HostName& of(StringId name);

 private:
  const Trace& trace_;
  std::vector<HostName> known_;
  std::vector<bool> asked_;
};

// Per activity: whether it is communication between devices.
std::vector<bool> collective_activities(const Trace& trace, const KernelNames& kernels);

// Which collective an activity is, in the words of KernelBook::collective_of: as its arguments tell
// (told: may be none), else its name; where that tells nothing, or sends and receives, of which
// NCCL makes other collectives, an operator or label around its launch. "collective" = not told.
std::string collective_kind(const Trace& trace, const Links& links, const KernelNames& kernels,
                            StringId told, ActivityId activity, OpId op);

// The name of a row of a table; none for rows of no table.
StringId row_name(const Trace& trace, RowSource source, uint32_t row);

}  // namespace assay
