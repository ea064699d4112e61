#pragma once

// Exports the rank records of a job as Parquet: docs/formats/job_tables.md.

#include <string>
#include <vector>

#include "base/export_folder.h"
#include "base/result.h"
#include "job/findings.h"
#include "job/job.h"

namespace assay {

// With at most kMostRankFolders ranks, each rank has a folder "rank=N". With more, each
// kRanksOfBucket consecutive rank numbers share a folder "bucket=K".
constexpr size_t kMostRankFolders = 512;
constexpr int64_t kRanksOfBucket = 256;

// Creates the export folder before all other work. Fails without DuckDB, or if the path exists.
Result<ExportFolder> open_fleet_tables(const std::string& folder);

// Writes all tables, then renames the folder to its final path. files: the records of the job,
// which are read again.
Status write_fleet_tables(const FleetJob& job, const FleetFindings& found,
                          const std::vector<std::string>& files, ExportFolder& folder);

}  // namespace assay
