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

}  // namespace assay
