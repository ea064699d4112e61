#pragma once

// The interface between the observer inside PyTorch, compiled against the user's PyTorch, and the
// recorder. It is plain C because different compilers and libraries build the two.

#include <cstdint>

namespace assay {

// An operator that ended, or a record_function range. The receiver reads the texts before the call
// returns. Input texts have the format of PyTorch's profiler; nullptr if there are none.
struct OperatorSeen {
  uint64_t start;  // CLOCK_MONOTONIC, nanoseconds
  uint64_t end;
  int64_t sequence;         // autograd's sequence number; -1 = none
  uint64_t forward_thread;  // RecordFunction's thread number of the forward operator; 0 = it is one
  uint32_t thread;          // the OS thread id
  uint32_t is_range;        // 1: a range of the program, not an operator
  const char* name;
  const char* dims;      // [[8,128],[]]
  const char* types;     // ["float","Scalar"]
  const char* strides;   // [[128,1],[]]
  const char* concrete;  // ["","1"]
};

struct OperatorSink {
  uint32_t version;  // kOperatorSinkVersion
  uint32_t modules;  // 1: module hooks must add ranges for module calls
  int (*wanted)();   // 0: recording is off
  void (*seen)(const OperatorSeen* seen);
};
constexpr uint32_t kOperatorSinkVersion = 1;

// The only function of the observer, for dlsym. Starts observing and returns 0, or nonzero if the
// version of the sink differs. The sink must outlive the process.
using ObserveOperators = int (*)(const OperatorSink* sink);
constexpr const char* kObserveOperators = "assay_observe_operators";

}  // namespace assay
