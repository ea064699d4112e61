#pragma once

// Input of the diagnosis of a job, from the traces of its ranks.

#include "findings/job.h"
#include "report/flow/job.h"

namespace assay {

findings::JobFacts job_facts(const JobFlow& flow);

}  // namespace assay
