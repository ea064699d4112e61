#pragma once

// What the fake HIP tells the fake rocprofiler-sdk: plain C, found by dlsym.

#include <cstdint>

struct FakeHipCall {
  const char* name = nullptr;
  uint32_t gpu = 0;              // number of the GPU that is set
  uint64_t stream = 0;           // HIP's; 0 = the default one
  uint32_t kernels = 0;          // dispatches that it makes: 1 of a launch, 3 of a graph
  const char* kernel = nullptr;  // fill; nullptr: saxpy_one, saxpy_two, saxpy_three in this order
  uint64_t copy_bytes = 0;       // 0 = no copy
  int32_t copy_from = 0;         // number of the GPU; -1 = host
  int32_t copy_to = 0;
  uint32_t scratch = 0;  // 1: scratch memory is allocated below it
};
using FakeHipCalled = void (*)(const FakeHipCall* call);

struct FakeMarkerCall {
  const char* name;
  const char* text;
  uint64_t id;        // of roctxRangeStop
  uint64_t returned;  // of roctxRangeStartA
};
using FakeMarkerCalled = void (*)(const FakeMarkerCall* call);
