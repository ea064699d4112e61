#pragma once

// Host records that are not yet in the file, in the format of the file, in two banks. Any thread
// fills one bank while the writing thread writes the other. Banks in shared memory outlive the
// process. Before there is a file, records are kept in growing private memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collect/record/progress.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"
#include "collect/wire.h"

namespace assay::record {

class HostLog {
 public:
  // Uses the banks of the area from then on, which must outlive this, and moves earlier records
  // there.
  void use(Area& area);

  // Free bytes of the bank being filled.
  size_t room() const;
  // record: complete, with its header. tail: follows it, zero-padded to a multiple of 8. There must
  // be space for both.
  void add(const void* record, size_t bytes, const void* tail = nullptr, size_t tail_bytes = 0);

  // Call in this order. swap() returns true if the full bank has records. write_full() runs without
  // the lock of the calls above; it writes the bank and notes the progress after each record.
  // give_back() follows once the records are in the file.
  bool swap();
  void write_full(TraceFile& file, SourceProgress& progress) const;
  void give_back();

  // Writes the records of a bank from an offset on.
  static void write(const uint8_t* bytes, uint64_t from, uint64_t used, TraceFile& file,
                    uint64_t& progress);

 private:
  Area* area_ = nullptr;
  size_t filling_ = 0;
  uint64_t numbers_ = 0;
  std::vector<uint8_t> early_;
};

}  // namespace assay::record
