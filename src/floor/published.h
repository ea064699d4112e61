#pragma once

// Published launch-overhead floors: the time to launch an empty kernel. Data, with its source;
// never a substitute for a measurement on the machine itself. The value depends on the tracer and
// on the host: the same GPU has 2.37 us with the PyTorch profiler (SKIP) and 4.7 us with Nsight
// Systems (TaxBreak). It must therefore come from the same tool as the trace.

#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace assay {

struct PublishedFloor {
  Tracer tracer = Tracer::kOther;
  std::string_view platform;  // as printed: "Intel+H100"
  std::string_view gpu;       // common name of that GPU, part of the device name: "H100"
  std::string_view device;    // part of the device name that is unique to the board: "H100 PCIe"
  double launch_ns = 0;       // start of the launch call to start of the null kernel, mean
  double duration_ns = 0;     // duration of the null kernel; 0 = not printed
  std::string_view source;    // publication and tracer
};
// For example: "published for GH200: SKIP Table V: ..."
std::string published_words(const PublishedFloor& floor);

// Values measured with one tracer.
std::span<const PublishedFloor> published_floors(Tracer tracer = Tracer::kPyTorchProfiler);

// The row with platform or GPU name `text`, or with a GPU name that `text` contains ("NVIDIA
// A100-SXM4-80GB"), letter case ignored; nullptr if there is none. The GPU is the same but the host
// may differ: callers must say so for another machine.
const PublishedFloor* find_published_floor(std::string_view text,
                                           Tracer tracer = Tracer::kPyTorchProfiler);

// The row of exactly that platform, letter case ignored; nullptr when there is none.
const PublishedFloor* floor_of_platform(std::string_view platform, Tracer tracer);

// True if the device is of the GPU model that the value was measured on.
bool taken_on(const PublishedFloor& floor, std::string_view device_name);

// The row measured with this tracer on the board with this device name; nullptr if that board was
// not measured, even if a similar one was.
const PublishedFloor* floor_of_board(std::string_view device_name, Tracer tracer);

}  // namespace assay
