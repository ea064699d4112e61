#pragma once

// Message of a collective, and the part of it that crosses the link of the busiest rank, as in
// NVIDIA's nccl-tests. Algorithm bandwidth is message over time. Bus bandwidth is that times a
// factor of the collective, which makes it comparable with the link rate at any number of ranks.

#include <cstdint>
#include <string_view>

namespace assay {

// Ratio of bus to algorithm bandwidth by kind (KernelBook::collective_of). It is 2 (n - 1) / n for
// an all-reduce, which sends every element out and receives it reduced. It is (n - 1) / n for
// gathers, scatters and all-to-all, which do not move a rank's own part. It is 1 for point-to-point
// transfers and unknown kinds.
double bus_factor(std::string_view kind, int64_t ranks);

struct MessageSize {
  double bytes = 0;   // 0 = not told
  double factor = 0;  // bus over algorithm bandwidth; 0 = not defined
};
// kind: as returned by KernelBook::collective_of ("all_reduce"). Elements as recorded, -1 =
// unknown. The message is the output of a rank (gathers) or its input (scatters, all-to-all,
// reductions). An all-to-all with different numbers of input and output elements has unequal parts,
// and no factor.
MessageSize message_size(std::string_view kind, std::string_view dtype, int64_t in_elements,
                         int64_t out_elements, int64_t group_size);

// GPUs of a machine, if unknown: the number on DGX, HGX and OAM baseboards.
inline constexpr int64_t kMachineGpus = 8;

// Machines of the ranks of a group.
struct GroupPlace {
  int64_t machines = 1;
  int64_t each = 0;  // ranks of the group on each machine; 0 = not the same number
};
// ranks: as PyTorch writes them, "[0, 8, 16]"; with more than 30, the first ones and "...".
// Machines hold `machine_gpus` consecutive ranks. If the ranks are unknown, as few machines as can
// hold the group.
GroupPlace place_of_group(std::string_view ranks, int64_t group_size, int64_t machine_gpus);

// Maximum bus bandwidth of a group over several machines with one network card per GPU, for every
// algorithm. With n ranks on m machines, each machine must send (m - 1) / m of a gather or scatter,
// the whole message of a broadcast or reduction, and in an all-to-all the part for ranks of other
// machines. Not valid if network switches reduce (SHARP). 0 = one machine, unequal numbers of ranks
// per machine, or an unknown kind.
double network_bus_bytes_per_s(std::string_view kind, const GroupPlace& place, int64_t group_size,
                               double nic_bytes_per_s);

}  // namespace assay
