#pragma once

// What names of operators, frames and labels show about the host, and which work is communication.
// The only place in flow/ that interprets names.

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
  bool input = false;    // a data loader, with everything inside
  bool cold = false;     // a compiler or autotuner, with everything inside
  bool sync = false;     // the host waits for the device
  bool outside = false;  // the host waits for external input: a poll, a receive, a sleep
  bool lock = false;     // waits for a lock or condition; for external input if below a queue
  bool queue = false;    // takes from a queue or socket: calls below may wait for it
  bool read = false;     // reads; for external input if below a queue
  bool step = false;     // the mark of an iteration, without information on its content
};
HostName classify_host_name(std::string_view name);
// The same for a system call, by its exact name ("epoll_wait").
HostName classify_system_call(std::string_view name);
// True for system calls, MPI calls and labels of host communication in which a thread waits for
// others or for external input.
bool is_waiting_label(std::string_view name);
// True for these, and for functions that wait for another thread or for external input.
bool waits_for_others(std::string_view name);

// True for a Python frame of code that torch.compile's Inductor wrote. Its folder shows that, or its
// file's name, which is "c" and 51 base-32 digits of a hash.
bool is_inductor_code(std::string_view frame);

// classify_host_name() of a trace's texts, cached.
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

// Per activity: it is communication between devices.
std::vector<bool> collective_activities(const Trace& trace, const KernelNames& kernels);

// The kind of a collective activity, in the words of KernelBook::collective_of: from its arguments
// (told: may be none), else its kernel name. If that is unknown or send/recv, of which NCCL
// composes other collectives, from an operator or label around its launch. "collective" = unknown.
std::string collective_kind(const Trace& trace, const Links& links, const KernelNames& kernels,
                            StringId told, ActivityId activity, OpId op);

// The name of an event of a table; none for kNone.
StringId row_name(const Trace& trace, RowSource source, uint32_t row);

}  // namespace assay
