#pragma once

// What the observer inside PyTorch (compiled against the user's own) and the recorder beside it say
// to each other: plain C, since the two are built by different compilers with different libraries.

#include <cstdint>

namespace assay {

// One operator that ended, or one range of record_function. Texts are read before the call returns;
// those of inputs are as PyTorch's profiler writes them, nullptr where there are none.
struct OperatorSeen {
  uint64_t start;  // CLOCK_MONOTONIC, nanoseconds
  uint64_t end;
  int64_t sequence;         // autograd's number; -1 = none
  uint64_t forward_thread;  // RecordFunction's number of the forward operator's thread; 0 = is one
  uint32_t thread;          // the system's id
  uint32_t is_range;        // 1: a range of the program, not an operator
  const char* name;
  const char* dims;      // [[8,128],[]]
  const char* types;     // ["float","Scalar"]
  const char* strides;   // [[128,1],[]]
  const char* concrete;  // ["","1"]
};

struct OperatorSink {
  uint32_t version;  // kOperatorSinkVersion
  uint32_t modules;  // 1: ranges around the calls of modules are wanted, which hooks make
  int (*wanted)();   // 0: nothing is recorded now
  void (*seen)(const OperatorSeen* seen);
};
constexpr uint32_t kOperatorSinkVersion = 1;

// The observer's one function, for dlsym: begins to observe; 0 = it does, else the sink is another
// version's. The sink must stay.
using ObserveOperators = int (*)(const OperatorSink* sink);
constexpr const char* kObserveOperators = "assay_observe_operators";

}  // namespace assay
