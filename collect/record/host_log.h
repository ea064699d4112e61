#pragma once

// What the program said of itself and the file does not have yet: records as the file will have
// them, in two banks. One is being filled by any thread, the other one is written down by the
// recorder's own. In shared memory they outlive the process. Until there is a file they are
// gathered in memory that grows.

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
  // From here on banks are the area's, which must outlive this. Moves what was gathered there.
  void use(Area& area);

  // Bytes that the bank being filled has room for.
  size_t room() const;
  // record: whole, with its header; tail: behind it, padded to 8 with zeros. There must be room.
  void add(const void* record, size_t bytes, const void* tail = nullptr, size_t tail_bytes = 0);

  // One after the other: the full bank's index, if it holds anything; then, without the lock that
  // guards the calls above, writes it to the file, with the progress noted after each record; and
  // then, once the file has it, gives it back.
  bool swap();
  void write_full(TraceFile& file, SourceProgress& progress) const;
  void give_back();

  // The records of a bank from a place on, into the file.
  static void write(const uint8_t* bytes, uint64_t from, uint64_t used, TraceFile& file,
                    uint64_t& progress);

 private:
  Area* area_ = nullptr;
  size_t filling_ = 0;
  uint64_t numbers_ = 0;
  std::vector<uint8_t> early_;
};

}  // namespace assay::record
