#pragma once

// Device memory by the allocator's records (breakdown/memory.h), as words and a section.

#include <string>
#include <vector>

#include "breakdown/memory.h"
#include "breakdown/memory_snapshot.h"
#include "report/document/document.h"

namespace assay {

// "memory": totals per device, phases, operators, and a line of allocated and reserved bytes for
// the page. Only where something was recorded.
struct MemoryView {
  bool words = false;  // readers get the sentences as well
};
Section memory_section(const JobMemory& memory, const MemoryView& view);
// One sentence per device, up to two, and one of calls to the driver; none without records.
std::vector<std::string> memory_words(const JobMemory& memory);

// The same of a memory snapshot, with what was reserved at its moment and who held it.
Section snapshot_section(const std::vector<SnapshotDevice>& devices);
// Up to four sentences per device, of the first two.
std::vector<std::string> snapshot_words(const std::vector<SnapshotDevice>& devices);

}  // namespace assay
