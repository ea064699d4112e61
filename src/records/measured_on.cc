#include "records/measured_on.h"

#include <cctype>

namespace assay {
namespace {

// The compared form of a GPU name: "NVIDIA H200" equals "H200".
std::string letters(const std::string& text) {
  std::string kept;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      kept += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const std::string vendor : {"nvidia", "amd"}) {
    if (kept.rfind(vendor, 0) == 0) kept.erase(0, vendor.size());
  }
  return kept;
}

}  // namespace

Status check_same_gpu(const std::string& file, const std::string& measured,
                      const std::string& traced) {
  if (traced.empty() || letters(traced) == letters(measured)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "measured on " + measured + ", but the trace's kernels ran on " + traced +
                   ": times of one GPU say nothing about another; measure on that machine",
               file, -1};
}

bool same_tracer(CollectorTracer measured, Tracer traced) {
  switch (traced) {
    case Tracer::kPyTorchProfiler:
      return measured == CollectorTracer::kKineto;
    case Tracer::kNsightSystems:
      return measured == CollectorTracer::kNsys;
    case Tracer::kAssay:
      return measured == CollectorTracer::kCupti;
    case Tracer::kOther:
      break;
  }
  return false;
}

std::string tracer_words(Tracer tracer) {
  switch (tracer) {
    case Tracer::kPyTorchProfiler:
      return "the PyTorch profiler";
    case Tracer::kNsightSystems:
      return "Nsight Systems";
    case Tracer::kAssay:
      return "assay record";
    case Tracer::kOther:
      break;
  }
  return "another tool";
}

}  // namespace assay
