#include "devices/workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr int64_t kLargestSide = 1 << 20;
constexpr int64_t kLargestArray = int64_t{1} << 40;
constexpr uint32_t kMostExecutions = 1'000'000;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<std::pair<std::string_view, WorkloadKind>, 10> kKinds = {{
    {"gemm", WorkloadKind::kGemm},
    {"gemv", WorkloadKind::kGemv},
    {"copy", WorkloadKind::kCopy},
    {"triad", WorkloadKind::kTriad},
    {"all_reduce", WorkloadKind::kAllReduce},
    {"all_gather", WorkloadKind::kAllGather},
    {"so", WorkloadKind::kSharedObject},
    {"cu", WorkloadKind::kCudaSource},
    {"hip", WorkloadKind::kHipSource},
    {"cmd", WorkloadKind::kCommand},
}};
constexpr std::array<std::pair<std::string_view, DataType>, 6> kTypes = {{
    {"f16", DataType::kF16},
    {"fp16", DataType::kF16},
    {"bf16", DataType::kBf16},
    {"f32", DataType::kF32},
    {"fp32", DataType::kF32},
    {"f64", DataType::kF64},
}};
constexpr std::array<std::pair<std::string_view, int64_t>, 7> kByteUnits = {{
    {"", 1},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"KiB", 1 << 10},
    {"MiB", 1 << 20},
    {"GiB", 1 << 30},
}};

Error bad(std::string_view text, const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, "workload '" + std::string(text) + "': " + what, "",
               -1};
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// An integer at the front of `text`, which is removed.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "N", "NxM", "NxMxK".
std::optional<std::vector<int64_t>> parse_sides(std::string_view text) {
  std::vector<int64_t> sides;
  while (true) {
    const auto side = take_number(text);
    if (!side || *side <= 0 || *side > kLargestSide) return std::nullopt;
    sides.push_back(*side);
    if (text.empty()) return sides;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

// Parses the type of "SIZE" or "SIZE:TYPE"; the default is bf16.
Status parse_type(Workload& work, std::string_view rest) {
  const size_t colon = rest.find(':');
  const std::string_view type = colon == std::string_view::npos ? "bf16" : rest.substr(colon + 1);
  const auto known = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const auto& entry) { return entry.first == type; });
  if (known == kTypes.end()) {
    return bad(work.text,
               "the type is one of f16, bf16, f32, f64, not '" + std::string(type) + "'");
  }
  work.type = known->second;
  return Ok{};
}

Result<Workload> parse_matrix(Workload work, std::string_view rest) {
  ASSAY_TRY(parse_type(work, rest));
  const size_t colon = rest.find(':');
  const auto sides = parse_sides(rest.substr(0, colon));
  const bool gemm = work.kind == WorkloadKind::kGemm;
  const size_t most = gemm ? 3 : 2;
  if (!sides || (sides->size() != 1 && sides->size() != most)) {
    return bad(work.text, gemm ? "sizes are gemm:N or gemm:MxNxK, each from 1 to 1048576"
                               : "sizes are gemv:N or gemv:MxK, each from 1 to 1048576");
  }
  work.m = sides->front();
  work.n = !gemm ? 1 : sides->size() == 1 ? work.m : (*sides)[1];
  work.k = sides->back();
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  work.flop = 2 * m * n * k;
  work.bytes = static_cast<double>(data_type_bytes(work.type)) * (m * k + k * n + m * n);
  return work;
}

Status parse_bytes(Workload& work, std::string_view rest) {
  const auto amount = take_number(rest);
  const auto unit = std::find_if(kByteUnits.begin(), kByteUnits.end(),
                                 [&](const auto& entry) { return entry.first == rest; });
  if (!amount || *amount <= 0 || unit == kByteUnits.end() ||
      *amount > kLargestArray / unit->second) {
    return bad(work.text, "bytes are a whole number with B omitted or KB, MB, GB, KiB, MiB, GiB");
  }
  work.array_bytes = *amount * unit->second;
  return Ok{};
}

// The traffic depends on the number of GPUs, which the device knows.
Result<Workload> parse_collective(Workload work, std::string_view rest) {
  ASSAY_TRY(parse_type(work, rest));
  ASSAY_TRY(parse_bytes(work, rest.substr(0, rest.find(':'))));
  work.flop = kUnknown;
  work.bytes = kUnknown;
  if (work.array_bytes % data_type_bytes(work.type) == 0) return work;
  return bad(work.text, "the bytes are not a whole number of " +
                            std::string(data_type_name(work.type)) + " values");
}

Result<Workload> parse_arrays(Workload work, std::string_view rest) {
  ASSAY_TRY(parse_bytes(work, rest));
  const bool triad = work.kind == WorkloadKind::kTriad;
  work.type = DataType::kF32;
  work.flop = triad ? 2.0 * static_cast<double>(work.array_bytes) / 4 : 0;
  work.bytes = static_cast<double>(work.array_bytes) * (triad ? 3 : 2);
  return work;
}

Result<Workload> parse_named(Workload work, std::string_view rest) {
  work.flop = kUnknown;
  work.bytes = kUnknown;
  if (work.kind == WorkloadKind::kCommand) {
    work.command = std::string(trim(rest));
    if (work.command.empty()) return bad(work.text, "the command line is missing");
    return work;
  }
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    return bad(work.text, "write FILE:NAME, the file and the name of the function in it");
  }
  work.file = std::string(rest.substr(0, colon));
  work.symbol = std::string(rest.substr(colon + 1));
  return work;
}

// Splits at commas. A command line extends to the end of the text, including commas.
std::vector<std::string_view> split_steps(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::string_view rest = trim(text);
    const size_t star = rest.find('*');
    const std::string_view body =
        star == std::string_view::npos ? rest : trim(rest.substr(star + 1));
    const size_t comma = text.find(',');
    if (rest.starts_with("cmd:") || body.starts_with("cmd:") || comma == std::string_view::npos) {
      pieces.push_back(rest);
      return pieces;
    }
    pieces.push_back(trim(text.substr(0, comma)));
    text.remove_prefix(comma + 1);
  }
}

Result<WorkloadStep> parse_step(std::string_view text) {
  WorkloadStep step;
  std::string_view rest = text;
  if (const auto count = take_number(rest)) {
    rest = trim(rest);
    if (rest.empty() || rest.front() != '*' || *count <= 0 || *count > kMostExecutions) {
      return bad(text, "a count is written 60*gemm:2048, from 1 to 1000000");
    }
    step.count = static_cast<uint32_t>(*count);
    rest = trim(rest.substr(1));
  }
  ASSAY_TRY_ASSIGN(step.workload, parse_workload(rest));
  return step;
}

}  // namespace

bool is_collective(WorkloadKind kind) {
  return kind == WorkloadKind::kAllReduce || kind == WorkloadKind::kAllGather;
}

std::string_view data_type_name(DataType type) {
  constexpr std::array<std::string_view, 4> kNames = {"f16", "bf16", "f32", "f64"};
  return kNames[static_cast<size_t>(type)];
}

int64_t data_type_bytes(DataType type) {
  constexpr std::array<int64_t, 4> kBytes = {2, 2, 4, 8};
  return kBytes[static_cast<size_t>(type)];
}

Result<Workload> parse_workload(std::string_view text) {
  text = trim(text);
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  if (colon == std::string_view::npos || kind == kKinds.end()) {
    return bad(text,
               "write gemm:N, gemm:MxNxK:bf16, gemv:N, copy:1GiB, triad:1GiB, "
               "all_reduce:512MB, all_gather:512MB:f32, so:FILE:symbol, cu:FILE:kernel, "
               "hip:FILE:kernel or cmd:COMMAND");
  }
  Workload work;
  work.kind = kind->second;
  work.text = std::string(text);
  const std::string_view rest = text.substr(colon + 1);
  switch (work.kind) {
    case WorkloadKind::kGemm:
    case WorkloadKind::kGemv:
      return parse_matrix(std::move(work), rest);
    case WorkloadKind::kCopy:
    case WorkloadKind::kTriad:
      return parse_arrays(std::move(work), rest);
    case WorkloadKind::kAllReduce:
    case WorkloadKind::kAllGather:
      return parse_collective(std::move(work), rest);
    default:
      return parse_named(std::move(work), rest);
  }
}

Result<std::vector<WorkloadStep>> parse_workload_list(std::string_view text) {
  std::vector<WorkloadStep> steps;
  for (const std::string_view piece : split_steps(text)) {
    if (piece.empty()) return bad(text, "a step of the list is empty");
    ASSAY_TRY_ASSIGN(WorkloadStep step, parse_step(piece));
    steps.push_back(std::move(step));
  }
  if (steps.back().count != 1) {
    return bad(text,
               "the last step is the one that is profiled, so its count is 1; how often a kernel "
               "runs alone follows from the sensor");
  }
  return steps;
}

}  // namespace assay
