#pragma once

// The few functions of the CUDA driver API and of HIP that Assay calls. HIP mirrors CUDA argument
// by argument, so that one table serves both; devices are ints, everything else is a pointer or a
// device address of 64 bits. Sources: cuda.h (CUDA 11 to 13), hip_runtime_api.h (ROCm 5 to 7).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dynamic_library.h"
#include "base/result.h"

namespace assay {

enum class GpuVendor : uint8_t { kNvidia, kAmd };

struct GpuApi {
  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*device_bus_id)(char* bus_id, int length, int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*event_create)(void** event, unsigned flags);
  int (*event_destroy)(void* event);
  int (*event_record)(void* event, void* stream);
  int (*event_synchronize)(void* event);
  int (*event_elapsed)(float* ms, void* start, void* end);
  int (*allocate)(void** address, size_t bytes);
  int (*release)(void* address);
  int (*copy)(void* to, void* from, size_t bytes, void* stream);
  int (*host_allocate)(void** address, size_t bytes, unsigned flags);
  int (*host_release)(void* address);
  int (*host_device_pointer)(void** device, void* host, unsigned flags);
  int (*module_load)(void** module, const void* image);
  int (*module_function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, void* stream, void** arguments, void** extra);
};

// The compiler that runs inside the process: NVRTC, hiprtc.
struct GpuCompilerApi {
  int (*create)(void** program, const char* source, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names);
  int (*compile)(void* program, int options, const char* const* texts);
  int (*log_size)(void* program, size_t* bytes);
  int (*log)(void* program, char* text);
  int (*code_size)(void* program, size_t* bytes);
  int (*code)(void* program, char* code);
  int (*destroy)(void** program);
};

// A vendor's runtime with one current device and a stream on it.
class GpuRuntime {
 public:
  static Result<GpuRuntime> open(GpuVendor vendor, int ordinal,
                                 const std::vector<std::string>& libraries);

  const GpuApi& api() const { return api_; }
  void* stream() const { return stream_; }
  int ordinal() const { return ordinal_; }
  // Number of GPUs that the driver shows.
  Result<int> device_count() const;
  // Makes this GPU current on the calling thread. open() does so too; needed after opening another.
  Status use() const;
  // Launches a kernel on the stream with a one-dimensional grid and block.
  Status launch(void* function, unsigned blocks, unsigned threads, void** arguments) const;
  Status synchronize() const;
  const std::string& name() const { return name_; }
  const std::string& bus_id() const { return bus_id_; }
  // Ok if `code` is 0, else an error with `doing` and the driver's message.
  Status check(int code, const std::string& doing) const;

 private:
  Status make_current(const DynamicLibrary& library, int device);

  int ordinal_ = 0;
  GpuVendor vendor_ = GpuVendor::kNvidia;
  GpuApi api_ = {};
  int (*cuda_error_)(int code, const char** text) = nullptr;
  const char* (*hip_error_)(int code) = nullptr;
  int (*hip_set_device_)(int) = nullptr;
  int (*cuda_set_current_)(void*) = nullptr;
  void* context_ = nullptr;  // CUDA's
  void* stream_ = nullptr;
  std::string name_;
  std::string bus_id_;
};

// Compiles a source text; the result is an image for module_load.
Result<std::string> compile_gpu_source(GpuVendor vendor, const std::vector<std::string>& libraries,
                                       const std::string& source, const std::string& name);

}  // namespace assay
