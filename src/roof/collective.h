#pragma once

// Message size of a collective, and the part of it that crosses the link of the busiest rank, as in
// NVIDIA's nccl-tests. Algorithm bandwidth = message size / time. Bus bandwidth = algorithm
// bandwidth * a factor of the collective, which makes it comparable with the link rate at any
// number of ranks.

#include <cstdint>
#include <string_view>

namespace assay {

// Ratio of bus to algorithm bandwidth by kind (KernelBook::collective_of). 2 (n - 1) / n for an
// all-reduce, which sends every element and receives it reduced. (n - 1) / n for gathers, scatters
// and all-to-all, which do not move a rank's own part. 1 for point-to-point transfers and unknown
// kinds.
double bus_factor(std::string_view kind, int64_t ranks);

struct MessageSize {
  double bytes = 0;   // 0 = unknown
  double factor = 0;  // bus / algorithm bandwidth; 0 = undefined
};
// kind: as returned by KernelBook::collective_of ("all_reduce"). in_elements, out_elements: as
// recorded; -1 = unknown. The message is a rank's output (gathers) or input (scatters, all-to-all,
// reductions). An all-to-all with different numbers of input and output elements has parts of
// unequal size, so its factor is 0.
MessageSize message_size(std::string_view kind, std::string_view dtype, int64_t in_elements,
                         int64_t out_elements, int64_t group_size);

// GPUs per machine, if unknown: the number on DGX, HGX and OAM baseboards.
inline constexpr int64_t kMachineGpus = 8;

// Placement of a group's ranks on machines.
struct GroupPlace {
  int64_t machines = 1;
  int64_t each = 0;  // ranks of the group per machine; 0 = not uniform
};
// ranks: in PyTorch's format, "[0, 8, 16]"; beyond 30 ranks it is truncated with "...". Machines
// are assumed to hold `machine_gpus` consecutive ranks each. If the ranks are unknown, the group is
// assumed to use as few machines as possible.
GroupPlace place_of_group(std::string_view ranks, int64_t group_size, int64_t machine_gpus);

// Upper bound of the bus bandwidth of a group over several machines with one network card per GPU,
// whatever the algorithm, bytes/s. With n ranks on m machines, each machine must send (m - 1) / m
// of a gather or scatter, the whole message of a broadcast or reduction, and in an all-to-all the
// part for ranks of other machines. Not valid if network switches reduce (SHARP). 0 for one
// machine, unequal numbers of ranks per machine, or an unknown kind.
double network_bus_bytes_per_s(std::string_view kind, const GroupPlace& place, int64_t group_size,
                               double nic_bytes_per_s);

}  // namespace assay
