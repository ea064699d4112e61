#pragma once

// What a collective carries: its message, and how much of it crosses the link of the busiest rank.
// As NVIDIA's nccl-tests define them: algorithm bandwidth is message over time, bus bandwidth that
// times a factor of the collective, comparable with the link's own rate at any number of ranks.

#include <cstdint>
#include <string_view>

namespace assay {

// Bus over algorithm bandwidth of a kind of collective (KernelBook::collective_of): 2 (n - 1) / n
// of an all-reduce, whose every element goes out and comes back reduced; (n - 1) / n of gathers,
// scatters and all-to-all, where a rank's own part stays; 1 of what goes from one to another, and
// of unknown kinds.
double bus_factor(std::string_view kind, int64_t ranks);

struct MessageSize {
  double bytes = 0;   // 0 = not told
  double factor = 0;  // bus over algorithm bandwidth; 0 = not defined
};
// kind: as KernelBook::collective_of tells it ("all_reduce"). Elements as recorded, -1 = not told.
// The message is what a rank ends up with (gathers) or starts from (scatters, all-to-all,
// reductions). Of an all-to-all that gives out more or fewer elements than it takes, parts differ:
// no factor.
MessageSize message_size(std::string_view kind, std::string_view dtype, int64_t in_elements,
                         int64_t out_elements, int64_t group_size);

// GPUs of a machine, where nothing tells: what DGX, HGX and OAM baseboards carry.
inline constexpr int64_t kMachineGpus = 8;

// Where the ranks of a group sit.
struct GroupPlace {
  int64_t machines = 1;
  int64_t each = 0;  // ranks of the group on each machine; 0 = not the same number
};
// ranks: as PyTorch writes them, "[0, 8, 16]", of more than 30 the first ones and "...". Machines
// hold `machine_gpus` ranks, one after the other. Not told: as few machines as hold the group.
GroupPlace place_of_group(std::string_view ranks, int64_t group_size, int64_t machine_gpus);

// The bus bandwidth that a group over several machines can reach at most, where each GPU has a
// network card of its own, whatever the algorithm: of n ranks on m machines each machine must send
// (m - 1) / m of what it gathers or scatters, a broadcast's or a reduction's whole message, and in
// an all-to-all what is for ranks of other machines. Not where switches of the network reduce
// (SHARP). 0 = one machine, another number of ranks on each, or a kind that is not told.
double network_bus_bytes_per_s(std::string_view kind, const GroupPlace& place, int64_t group_size,
                               double nic_bytes_per_s);

}  // namespace assay
