#pragma once

// What the traces of a job's ranks show, for its diagnosis.

#include "findings/job.h"
#include "report/flow/job.h"

namespace assay {

findings::JobFacts job_facts(const JobFlow& flow);

}  // namespace assay
