#pragma once

// What a launcher of many processes (Slurm, MPI, Kubernetes) tells this one of itself.

#include <optional>
#include <string>

namespace assay {

// Nothing where it is not set.
std::optional<std::string> environment_value(const char* name);

}  // namespace assay
