#include "report/breakdown/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/breakdown/results.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kPointsOfLine = 1000;
constexpr size_t kDevicesInWords = 2;
constexpr size_t kOpsShown = 8;

Value told_bytes(int64_t bytes) { return bytes < 0 ? Value() : Value(bytes); }

// A phase or an operator on one device.
struct MemoryRow {
  const DeviceMemory* device;
  const MemoryPlace* place;
};

template <typename R, typename Sums>
void add_sums(TableOf<R>& table, const Sums& sums, Show peak) {
  const auto of = [&sums](auto MemorySums::*field) {
    return [&sums, field](const R& row) { return sums(row).*field; };
  };
  table.add(keys::allocations, of(&MemorySums::allocations))
      .add(keys::frees, of(&MemorySums::frees), Show::kDataOnly)
      .add(keys::allocated_bytes, of(&MemorySums::allocated_bytes))
      .add(keys::freed_bytes, of(&MemorySums::freed_bytes), Show::kDataOnly)
      .add(
          keys::peak_bytes, [&sums](const R& row) { return told_bytes(sums(row).peak_bytes); },
          peak);
}

const MemorySums& sums_of_place(const MemoryRow& row) { return row.place->sums; }
const MemorySums& sums_of_device(const DeviceMemory& device) { return device.sums; }

bool any_totals(const JobMemory& memory) {
  return std::any_of(memory.devices.begin(), memory.devices.end(),
                     [](const DeviceMemory& device) { return device.last_bytes >= 0; });
}

Table devices_table(const JobMemory& memory) {
  using Device = DeviceMemory;
  const Show totals = shown_if(any_totals(memory));
  const Show reserved =
      shown_if(std::any_of(memory.devices.begin(), memory.devices.end(),
                           [](const Device& device) { return device.peak_reserved_bytes >= 0; }));
  const auto bytes = [](int64_t Device::*field) {
    return [field](const Device& device) { return told_bytes(device.*field); };
  };
  TableOf table(memory.devices, {.key = "devices", .title = "Allocator", .terminal_limit = 8});
  table.add(keys::file, &Device::file, Show::kDataOnly).add(keys::device, &Device::device);
  add_sums(table, sums_of_device, totals);
  table.add(keys::peak_reserved_bytes, bytes(&Device::peak_reserved_bytes), reserved)
      .add(keys::start_bytes, bytes(&Device::first_bytes), totals)
      .add(keys::end_bytes, bytes(&Device::last_bytes), totals)
      .add(keys::max_growth_bytes, &Device::grown_bytes)
      .add(
          keys::peak_phase, [](const Device& d) { return level_phase_name(d.peak.phase); },
          Show::kDataOnly)
      .add(
          keys::peak_op, [](const Device& d) { return text_or_null(d.peak.op); }, elastic())
      .add(keys::ambiguous_events, &Device::ambiguous, Show::kDataOnly)
      .add(keys::outside_events, &Device::outside, Show::kDataOnly);
  return table;
}

Table places_table(const JobMemory& memory, bool ops) {
  std::vector<MemoryRow> rows;
  for (const DeviceMemory& device : memory.devices) {
    for (const MemoryPlace& place : ops ? device.ops : device.phases)
      rows.push_back({&device, &place});
  }
  const Show phases = shown_if(std::any_of(rows.begin(), rows.end(), [](const MemoryRow& row) {
    return row.place->phase != LevelPhase::kNone;
  }));
  TableOf table(rows, {.key = ops ? "ops" : "phases",
                       .title = ops ? "Memory by operator" : "Memory by phase",
                       .terminal_limit = ops ? kOpsShown : 0});
  table
      .add(
          keys::file, [](const MemoryRow& row) { return row.device->file; }, Show::kDataOnly)
      .add(keys::device, [](const MemoryRow& row) { return row.device->device; })
      .add(
          keys::phase, [](const MemoryRow& row) { return level_phase_name(row.place->phase); },
          phases);
  if (ops)
    table.add(
        keys::op, [](const MemoryRow& row) { return text_or_null(row.place->op); }, elastic());
  add_sums(table, sums_of_place, shown_if(any_totals(memory)));
  if (!ops && rows.size() == memory.devices.size()) table.show = Show::kDataOnly;
  return table;
}

// Keeps the sample with the most allocated memory from each run of samples, so that no peak is
// lost.
std::vector<MemorySample> thinned(const std::vector<MemorySample>& samples) {
  const size_t run = (samples.size() + kPointsOfLine - 1) / kPointsOfLine;
  if (run <= 1) return samples;
  std::vector<MemorySample> kept;
  for (size_t i = 0; i < samples.size(); i += run) {
    const auto end =
        samples.begin() + static_cast<std::ptrdiff_t>(std::min(i + run, samples.size()));
    kept.push_back(*std::max_element(samples.begin() + static_cast<std::ptrdiff_t>(i), end,
                                     [](const MemorySample& a, const MemorySample& b) {
                                       return a.allocated_bytes < b.allocated_bytes;
                                     }));
  }
  return kept;
}

Chart line_chart(const DeviceMemory& device, size_t nth) {
  Chart chart{
      .key = "memory_line" + (nth == 0 ? std::string() : std::to_string(nth)),
      .title = fmt::format("Memory of device {} over time", device.device),
      .caption =
          "Memory in use in the framework's allocator, and memory it reserved from the driver.",
      .x = {"since the first record", Unit::kNanoseconds},
      .y = {"bytes", Unit::kBytes}};
  Series allocated{.name = "allocated", .mark = Mark::kSteps};
  Series reserved{.name = "reserved", .mark = Mark::kSteps};
  for (const MemorySample& sample : thinned(device.samples)) {
    const auto at = static_cast<double>(sample.time_ns - device.samples.front().time_ns);
    allocated.x.push_back(at);
    allocated.y.push_back(static_cast<double>(sample.allocated_bytes));
    reserved.x.push_back(at);
    reserved.y.push_back(sample.reserved_bytes < 0 ? std::nan("")
                                                   : static_cast<double>(sample.reserved_bytes));
  }
  chart.series.push_back(std::move(allocated));
  if (device.peak_reserved_bytes >= 0) chart.series.push_back(std::move(reserved));
  return chart;
}

Table snapshot_table(const std::vector<SnapshotDevice>& devices) {
  TableOf table(devices, {.key = "snapshot", .title = "Reserved at the snapshot"});
  const auto of = [](auto SnapshotMemory::*field) {
    return [field](const SnapshotDevice& device) { return device.state.*field; };
  };
  table.add(keys::device, [](const SnapshotDevice& device) { return device.memory.device; })
      .add(keys::reserved_bytes, of(&SnapshotMemory::reserved_bytes))
      .add(keys::in_use_bytes, of(&SnapshotMemory::allocated_bytes))
      .add(keys::pending_free_bytes, of(&SnapshotMemory::awaiting_bytes))
      .add(keys::split_bytes, of(&SnapshotMemory::split_bytes))
      .add(keys::free_segment_bytes, of(&SnapshotMemory::free_segment_bytes))
      .add(keys::unexplained_bytes, of(&SnapshotMemory::unexplained_bytes), Show::kDataOnly)
      .add(keys::rounding_bytes, of(&SnapshotMemory::rounding_bytes))
      .add(keys::snapshot_segments, of(&SnapshotMemory::segments))
      .add(keys::blocks, of(&SnapshotMemory::blocks))
      .add(keys::actions, of(&SnapshotMemory::actions), Show::kDataOnly)
      .add(keys::segment_allocations, of(&SnapshotMemory::segment_allocations))
      .add(keys::segment_frees, of(&SnapshotMemory::segment_frees))
      .add(keys::out_of_memory, of(&SnapshotMemory::out_of_memory))
      .add(keys::unknown_actions, of(&SnapshotMemory::unknown_actions), Show::kDataOnly)
      .add(keys::inconsistent_blocks, of(&SnapshotMemory::odd_blocks), Show::kDataOnly)
      .add(keys::inconsistent_actions, of(&SnapshotMemory::odd_actions), Show::kDataOnly)
      .add(
          keys::first_reserved_bytes,
          [](const SnapshotDevice& device) {
            return told_bytes(device.state.first_reserved_bytes);
          },
          Show::kDataOnly);
  return table;
}

struct HolderRow {
  int64_t device;
  const MemoryHolder* holder;
};

Table holders_table(const std::vector<SnapshotDevice>& devices) {
  std::vector<HolderRow> rows;
  for (const SnapshotDevice& device : devices) {
    for (const MemoryHolder& holder : device.state.holders)
      rows.push_back({device.memory.device, &holder});
  }
  TableOf table(
      rows, {.key = "holders", .title = "Memory by allocation site", .terminal_limit = kOpsShown});
  table.add(keys::device, &HolderRow::device)
      .add(
          keys::site, [](const HolderRow& row) { return text_or_null(row.holder->site); },
          elastic())
      .add(keys::blocks, [](const HolderRow& row) { return row.holder->blocks; })
      .add(keys::in_use_bytes, [](const HolderRow& row) { return row.holder->bytes; });
  return table;
}

std::string where_words(const MemoryPlace& place) {
  if (place.op.empty()) return "";
  return fmt::format(
      " in {}{}", place.op,
      place.phase == LevelPhase::kNone ? "" : fmt::format(" ({})", level_phase_name(place.phase)));
}

void add_snapshot_words(const SnapshotDevice& device, std::vector<std::string>& words) {
  const SnapshotMemory& state = device.state;
  const DeviceMemory& memory = device.memory;
  words.push_back(
      fmt::format("Memory of device {} at the snapshot: {} reserved. This is {} allocated, {} "
                  "waiting to be freed, {} split off and unused, {} in free segments.",
                  memory.device, format_bytes(state.reserved_bytes),
                  format_bytes(state.allocated_bytes), format_bytes(state.awaiting_bytes),
                  format_bytes(state.split_bytes), format_bytes(state.free_segment_bytes)));
  if (state.actions == 0) {
    words.push_back(
        "No actions of its allocator were recorded, so the peak is unknown: "
        "torch.cuda.memory._record_memory_history() records them.");
  } else if (memory.sums.peak_bytes >= 0) {
    words.push_back(
        fmt::format("Peaks of its {} recorded actions: {} requested and in use{}, {} reserved.",
                    state.actions, format_bytes(memory.sums.peak_bytes), where_words(memory.peak),
                    format_bytes(memory.peak_reserved_bytes)));
  }
  if (memory.first_bytes > 0 || state.first_reserved_bytes > 0) {
    words.push_back(fmt::format(
        "The beginning is lost or was not recorded: {} were in use and {} reserved before the "
        "first action. Earlier peaks are not known.",
        format_bytes(memory.first_bytes), format_bytes(state.first_reserved_bytes)));
  }
  if (state.out_of_memory > 0)
    words.push_back(
        fmt::format("Allocations that failed for lack of memory: {}.", state.out_of_memory));
  const uint64_t odd = state.odd_blocks + state.odd_actions + state.unknown_actions;
  if (odd > 0) {
    words.push_back(
        fmt::format("The snapshot contradicts itself or is of an unknown kind in {} places: the "
                    "peak of device {} is unknown.",
                    odd, memory.device));
  }
}

std::string device_words(const DeviceMemory& device) {
  if (device.sums.peak_bytes < 0) {
    return fmt::format(
        "Memory of device {}: allocations were ahead of releases by at most {}{}; what was "
        "allocated before was not recorded.",
        device.device, format_bytes(device.grown_bytes), where_words(device.peak));
  }
  std::string text = fmt::format("Memory of device {}: at most {} allocated{}", device.device,
                                 format_bytes(device.sums.peak_bytes), where_words(device.peak));
  if (device.peak_reserved_bytes >= 0)
    text += fmt::format(", at most {} reserved", format_bytes(device.peak_reserved_bytes));
  return text + fmt::format("; {} before the first record.", format_bytes(device.first_bytes));
}

// Adds the tables of allocator events and the page's line charts.
void add_allocator(const JobMemory& memory, Section& section) {
  section.blocks.push_back(devices_table(memory));
  section.blocks.push_back(places_table(memory, false));
  section.blocks.push_back(places_table(memory, true));
  size_t nth = 0;
  for (const DeviceMemory& device : memory.devices) {
    if (device.sums.peak_bytes >= 0 && !device.samples.empty())
      section.blocks.push_back(line_chart(device, nth++));
  }
}

}  // namespace

std::vector<std::string> memory_words(const JobMemory& memory) {
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(memory.devices.size(), kDevicesInWords); ++i)
    words.push_back(device_words(memory.devices[i]));
  const DriverMemory& driver = memory.driver;
  if (driver.allocations + driver.frees > 0) {
    words.push_back(fmt::format("Driver memory calls: {} allocate, {} free; {} of host time.",
                                driver.allocations, driver.frees, format_ns(driver.ns)));
  }
  return words;
}

Section memory_section(const JobMemory& memory, const MemoryView& view) {
  Section section{.key = "memory", .title = "Memory"};
  if (view.words) {
    section.blocks.push_back(Prose{.paragraphs = memory_words(memory), .show = Show::kReadersOnly});
  }
  section.blocks.push_back(
      Facts{.items = {data_fact(keys::driver_allocations, memory.driver.allocations),
                      data_fact(keys::driver_frees, memory.driver.frees),
                      data_fact(keys::driver_ns, memory.driver.ns)}});
  add_allocator(memory, section);
  return section;
}

std::vector<std::string> snapshot_words(const std::vector<SnapshotDevice>& devices) {
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(devices.size(), kDevicesInWords); ++i)
    add_snapshot_words(devices[i], words);
  return words;
}

Section snapshot_section(const std::vector<SnapshotDevice>& devices) {
  Section section{.key = "memory", .title = "Memory"};
  section.blocks.push_back(snapshot_table(devices));
  section.blocks.push_back(holders_table(devices));
  JobMemory memory;
  for (const SnapshotDevice& device : devices) memory.devices.push_back(device.memory);
  add_allocator(memory, section);
  return section;
}

}  // namespace assay
