#include "answers/breakdown/memory_snapshot.h"

#include <utility>

#include "breakdown/memory_snapshot.h"
#include "ingest/formats.h"
#include "ingest/memory/snapshot.h"
#include "report/breakdown/memory.h"

namespace assay {

bool is_memory_snapshot(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-") return false;
  const FileFormat* format = format_of_file(inputs.front());
  return format != nullptr && format->family == FileFamily::kMemory;
}

Result<Answer> answer_memory_snapshot(const std::string& path) {
  ASSAY_TRY_ASSIGN(const MemorySnapshot snapshot, read_memory_snapshot(path));
  const std::vector<SnapshotDevice> devices = replay_snapshot(snapshot);
  Answer answer{new_document("Memory")};
  answer.document.inputs.push_back({path, {}});
  answer.document.verdict = snapshot_words(devices);
  if (devices.empty())
    answer.document.verdict = {"The snapshot is empty: the allocator had reserved nothing."};
  answer.document.sections.push_back(snapshot_section(devices));
  return answer;
}

}  // namespace assay
