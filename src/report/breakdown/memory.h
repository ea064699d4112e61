#pragma once

// Device memory from allocator events (breakdown/memory.h): sentences and a section.

#include <string>
#include <vector>

#include "breakdown/memory.h"
#include "breakdown/memory_snapshot.h"
#include "report/document/document.h"

namespace assay {

// "memory": totals per device, phases, operators, and for the page a line chart of allocated and
// reserved bytes. Has no blocks if nothing was recorded.
struct MemoryView {
  bool words = false;  // readers get the sentences as well
};
Section memory_section(const JobMemory& memory, const MemoryView& view);
// One sentence per device for at most two, and one on driver calls; empty without events.
std::vector<std::string> memory_words(const JobMemory& memory);

// The same for a memory snapshot, with the memory reserved at that time and its holders.
Section snapshot_section(const std::vector<SnapshotDevice>& devices);
// Up to four sentences for each of the first two devices.
std::vector<std::string> snapshot_words(const std::vector<SnapshotDevice>& devices);

}  // namespace assay
