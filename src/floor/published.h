#pragma once

// Published launch floors: what a kernel that does nothing costs to launch. Data, with its source;
// never a substitute for a measurement on the machine in question. A floor depends on the tracer
// and on the host: the same GPU reads 2.37 us with the PyTorch profiler (SKIP) and 4.7 us with
// Nsight Systems (TaxBreak), so a floor must come from the same tool as the trace that it is
// compared with.

#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace assay {

struct PublishedFloor {
  Tracer tracer = Tracer::kOther;
  std::string_view platform;  // as printed: "Intel+H100"
  std::string_view gpu;       // part of the device name by which a person names that GPU
  std::string_view device;    // part of the name that only the very board bears: "H100 PCIe"
  double launch_ns = 0;       // start of the launch call to start of the null kernel, mean
  double duration_ns = 0;     // duration of the null kernel; 0 = not printed
  std::string_view source;    // where it was printed and what traced it
};
// "published for GH200: SKIP Table V: ..."
std::string published_words(const PublishedFloor& floor);

// Those taken with one tracer.
std::span<const PublishedFloor> published_floors(Tracer tracer = Tracer::kPyTorchProfiler);

// The row whose platform or GPU name is `text`, or whose GPU name `text` contains ("NVIDIA
// A100-SXM4-80GB"), letter case ignored; nullptr when there is none. Same GPU, not same host: say
// so when it is used for another machine.
const PublishedFloor* find_published_floor(std::string_view text,
                                           Tracer tracer = Tracer::kPyTorchProfiler);

// The row of exactly that platform, letter case ignored; nullptr when there is none.
const PublishedFloor* floor_of_platform(std::string_view platform, Tracer tracer);

// Whether that GPU is of the kind the floor was taken on.
bool taken_on(const PublishedFloor& floor, std::string_view device_name);

// The row taken with this tracer on the board that a trace calls `device_name`; nullptr when that
// board was not measured, however near its kin.
const PublishedFloor* floor_of_board(std::string_view device_name, Tracer tracer);

}  // namespace assay
