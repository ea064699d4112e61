#pragma once

// Everything that is kept of a job's ranks as Parquet: docs/formats/job_tables.md.

#include <string>
#include <vector>

#include "base/export_folder.h"
#include "base/result.h"
#include "job/findings.h"
#include "job/job.h"

namespace assay {

// Up to so many ranks each has a folder "rank=N"; of more kRanksOfBucket by their numbers share
// "bucket=K".
constexpr size_t kMostRankFolders = 512;
constexpr int64_t kRanksOfBucket = 256;

// The folder to be made, before all other work. Errors: no DuckDB; something lies there.
Result<ExportFolder> open_fleet_tables(const std::string& folder);

// files: the records that the job was assembled from, which are read again. It gets its name when
// all is in it.
Status write_fleet_tables(const FleetJob& job, const FleetFindings& found,
                          const std::vector<std::string>& files, ExportFolder& folder);

}  // namespace assay
