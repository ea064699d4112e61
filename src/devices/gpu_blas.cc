#include "devices/gpu_blas.h"

namespace assay {

Status BlasHandle::check(int code, const char* doing) const {
  if (code == 0) return Ok{};
  return Error{ErrorCode::kIo,
               std::string(doing) + " failed: " + library_ + " status " + std::to_string(code), "",
               -1};
}

Result<DynamicLibrary> BlasHandle::open_on(const BlasNames& names,
                                           const std::vector<std::string>& libraries,
                                           void* stream) {
  library_ = names.library;
  ASSAY_TRY_ASSIGN(const DynamicLibrary library, DynamicLibrary::open(libraries, names.missing));
  int (*create)(void**) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  ASSAY_TRY(library.bind(names.create, create));
  ASSAY_TRY(library.bind(names.set_stream, set_stream));
  ASSAY_TRY(check(create(&handle_), ("starting " + library_).c_str()));
  ASSAY_TRY(check(set_stream(handle_, stream), ("giving " + library_ + " a stream").c_str()));
  return library;
}

GemmArguments::GemmArguments(const Workload& work)
    : wide_(work.type == DataType::kF64),
      m_(static_cast<int>(work.m)),
      n_(static_cast<int>(work.n)),
      k_(static_cast<int>(work.k)) {}

}  // namespace assay
