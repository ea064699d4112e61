#pragma once

// A flight-recorder dump: the last communication calls of one rank of a job
// (docs/formats/flight_recorder.md). Versions 2.0 to 2.10 are known; fields are read if present,
// whatever the version.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class FlightState : uint8_t { kScheduled, kStarted, kCompleted };

struct FlightFrame {
  std::string function;
  std::string file;
  int64_t line = 0;
};

// A process group.
struct FlightGroup {
  std::string desc;            // the program's name for it; may be empty
  std::vector<int64_t> ranks;  // members, as written; may be empty
};

// Numbers of the last collectives according to the watchdog; -1 = unknown or none.
struct FlightStatus {
  int64_t enqueued = -1;
  int64_t completed = -1;
};

struct FlightEntry {
  int64_t record = -1;     // order in which calls were recorded
  int64_t pg = -1;         // key of FlightDump::status
  std::string group = {};  // key of FlightDump::groups
  std::string desc = {};
  int64_t seq = -1;        // number of the collective in its group; -1 = unknown
  bool p2p = false;
  std::string call = {};  // "nccl:all_reduce", "nccl:send 1->2"
  std::vector<int64_t> in_elements = {};  // per tensor
  std::vector<int64_t> out_elements = {};
  std::vector<std::string> in_types = {};
  std::vector<std::string> out_types = {};
  FlightState state = FlightState::kScheduled;
  int64_t timeout_ms = -1;
  std::vector<FlightFrame> frames = {};  // innermost first
};

struct FlightDump {
  std::string file = {};
  std::optional<int64_t> rank = {};
  std::string version = {};
  std::string library_version = {};  // of NCCL, RCCL or HCCL; may be empty
  std::map<std::string, FlightGroup> groups = {};
  std::map<int64_t, FlightStatus> status = {};
  std::vector<FlightEntry> entries = {};  // by `record`
  uint64_t odd_entries = 0;               // dropped entries without a name or a state
};

}  // namespace assay
