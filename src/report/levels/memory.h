#pragma once

// Device memory by the allocator's records (levels/memory.h), as words and a section.

#include <string>
#include <vector>

#include "levels/memory.h"
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

}  // namespace assay
