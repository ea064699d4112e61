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
// reductions).
MessageSize message_size(std::string_view kind, std::string_view dtype, int64_t in_elements,
                         int64_t out_elements, int64_t group_size);

// GPUs of a machine, where nothing tells: what DGX, HGX and OAM baseboards carry.
inline constexpr int64_t kMachineGpus = 8;

// The bus bandwidth that a group over several machines can reach, by what each GPU has of its
// machine's network cards. ranks: as PyTorch writes them ("[0, 8, 16]"), machines as eight
// ranks one after the other; not told, the group fills its machines. Rings cross a machine's
// border once for each of its ranks in the group; in an all-to-all each rank sends what leaves the
// machine by its own card. 0 = the group is on one machine, or has another number of ranks on each.
double network_bus_bytes_per_s(std::string_view kind, std::string_view ranks, int64_t group_size,
                               double nic_bytes_per_s);

}  // namespace assay
