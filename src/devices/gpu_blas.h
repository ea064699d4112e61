#pragma once

// Common parts of cuBLAS and rocBLAS: a handle on a stream, and the arguments of a product.

#include <string>
#include <vector>

#include "base/dynamic_library.h"
#include "base/result.h"
#include "devices/workload.h"

namespace assay {

// Vendor-specific names.
struct BlasNames {
  const char* library;  // "cuBLAS"
  const char* missing;  // error text if the library is not installed
  const char* create;
  const char* set_stream;
  const char* gemm;
};

class BlasHandle {
 public:
  // Opens the library, creates a handle on the stream, and binds the GEMM function.
  template <typename Gemm>
  Status open(const BlasNames& names, const std::vector<std::string>& libraries, void* stream,
              Gemm*& gemm) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library, open_on(names, libraries, stream));
    return library.bind(names.gemm, gemm);
  }
  void* get() const { return handle_; }
  Status check(int code, const char* doing) const;

 private:
  Result<DynamicLibrary> open_on(const BlasNames& names, const std::vector<std::string>& libraries,
                                 void* stream);

  std::string library_;
  void* handle_ = nullptr;
};

// Arguments of C = 1 A B + 0 C. The factors 1 and 0 have the accumulation type.
class GemmArguments {
 public:
  explicit GemmArguments(const Workload& work);
  bool wide() const { return wide_; }  // summed in 64 bits
  int m() const { return m_; }
  int n() const { return n_; }
  int k() const { return k_; }
  const void* one() const { return wide_ ? static_cast<const void*>(&one_d_) : &one_f_; }
  const void* zero() const { return wide_ ? static_cast<const void*>(&zero_d_) : &zero_f_; }

 private:
  bool wide_;
  int m_;
  int n_;
  int k_;
  float one_f_ = 1;
  float zero_f_ = 0;
  double one_d_ = 1;
  double zero_d_ = 0;
};

}  // namespace assay
