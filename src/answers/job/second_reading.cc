#include "answers/job/second_reading.h"

#include "base/files.h"

namespace assay {

Status each_used_record(const FleetJob& job, const std::vector<std::string>& files,
                        const std::function<void(const UsedRecord&)>& see) {
  UsedRecords used(job);
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(const std::string text, file_text(file, SIZE_MAX));
    for (const UsedRecord& record : used.take(text)) see(record);
  }
  if (used.left() == 0) return Ok{};
  return Error{ErrorCode::kIo, "the records changed while they were read", files.front(), -1};
}

}  // namespace assay
