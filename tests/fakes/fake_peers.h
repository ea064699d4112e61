#pragma once

// Several GPUs that do not exist, FAKE_GPUS of them, and the collective library that connects them
// (NCCL's functions, which RCCL has under the same names). It is strict: memory, streams and
// communicators must be of the GPU they are used with, every rank of a group must ask for the same,
// and it leaves another GPU in use than it found, as a library may. A collective takes 20 us and
// its bytes at 400 GB/s. FAKE_GPU=nccl_fails: the GPUs are not connected.

#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "fake_gpu.h"

namespace fake {

constexpr int kMostGpus = 16;
constexpr int kWrongGpu = 201;  // CUDA_ERROR_INVALID_CONTEXT

inline int gpus() {
  const char* set = std::getenv("FAKE_GPUS");
  return set != nullptr ? std::atoi(set) : 1;
}

static thread_local int in_use = 0;
static char streams[kMostGpus];  // one of each GPU
struct Memory {
  int gpu;
  size_t bytes;
};
static std::map<const void*, Memory>& allocated = *new std::map<const void*, Memory>;

inline void* own_stream() { return &streams[in_use]; }
inline bool is_elsewhere(const void* stream) { return stream != own_stream(); }

inline int allocate(void** address, size_t bytes) {
  std::lock_guard lock(mutex);
  if ((*address = std::malloc(bytes)) == nullptr) return 2;
  allocated[*address] = {in_use, bytes};
  return 0;
}
inline int release(void* address) {
  std::lock_guard lock(mutex);
  const auto known = allocated.find(address);
  if (known == allocated.end() || known->second.gpu != in_use) return kWrongGpu;
  allocated.erase(known);
  return std::free(address), 0;
}
// Whether an address is memory of the GPU, with so many bytes.
inline bool holds(const void* address, int gpu, size_t bytes) {
  std::lock_guard lock(mutex);
  const auto known = allocated.find(address);
  return known != allocated.end() && known->second.gpu == gpu && known->second.bytes >= bytes;
}

struct Communicator {
  int rank;
  int ranks;
  int gpu;
};
struct Asked {
  const Communicator* communicator;
  bool gather;
  size_t count;
  int type;
};
static std::vector<Asked>& group = *new std::vector<Asked>;
static bool in_group = false;
static size_t collectives_done = 0;
static size_t communicators_open = 0;

constexpr int kInvalidArgument = 4;  // ncclInvalidArgument
constexpr int kInvalidUsage = 5;     // ncclInvalidUsage

inline size_t type_bytes(int type) {
  return type == 6 || type == 9 ? 2 : type == 7 ? 4 : type == 8 ? 8 : 0;
}

inline int ask(const void* from, const void* to, size_t count, int type, bool gather,
               void* communicator, void* stream) {
  const auto* of = static_cast<const Communicator*>(communicator);
  const size_t bytes = count * type_bytes(type);
  const size_t all = gather ? bytes * static_cast<size_t>(of->ranks) : bytes;
  if (!in_group || bytes == 0) return kInvalidUsage;
  if (stream != &streams[of->gpu]) return kInvalidArgument;
  if (!holds(from, of->gpu, bytes) || !holds(to, of->gpu, all)) return kInvalidArgument;
  return group.push_back({of, gather, count, type}), 0;
}

}  // namespace fake

extern "C" {

int ncclCommInitAll(void** communicators, int count, const int* ordinals) {
  if (fake::faulty("nccl_fails")) return 2;
  std::set<int> seen;
  for (int i = 0; i < count; ++i) {
    if (ordinals[i] < 0 || ordinals[i] >= fake::gpus() || !seen.insert(ordinals[i]).second) {
      return fake::kInvalidArgument;
    }
    communicators[i] = new fake::Communicator{i, count, ordinals[i]};
    ++fake::communicators_open;
  }
  return fake::in_use = ordinals[count - 1], 0;
}
int ncclCommDestroy(void* communicator) {
  --fake::communicators_open;
  return delete static_cast<fake::Communicator*>(communicator), 0;
}
int ncclGroupStart() {
  if (fake::in_group) return fake::kInvalidUsage;
  return fake::group.clear(), fake::in_group = true, 0;
}
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation,
                  void* communicator, void* stream) {
  if (operation != 0) return fake::kInvalidArgument;
  return fake::ask(from, to, count, type, false, communicator, stream);
}
int ncclAllGather(const void* from, void* to, size_t each, int type, void* communicator,
                  void* stream) {
  return fake::ask(from, to, each, type, true, communicator, stream);
}
int ncclGroupEnd() {
  using namespace fake;
  constexpr double kBytesPerNs = 400;
  in_group = false;
  if (group.empty()) return kInvalidUsage;
  const Asked first = group.front();
  std::set<int> ranks;
  for (const Asked& one : group) {
    const bool alike =
        one.gather == first.gather && one.count == first.count && one.type == first.type;
    if (!alike || !ranks.insert(one.communicator->rank).second) return kInvalidUsage;
  }
  const auto all = static_cast<size_t>(first.communicator->ranks);
  if (ranks.size() != all) return kInvalidUsage;  // a real one would wait for ever
  const size_t bytes = first.count * type_bytes(first.type) * (first.gather ? all : 1);
  take(20'000 + static_cast<int64_t>(static_cast<double>(bytes) / kBytesPerNs), true);
  ++collectives_done;
  return in_use = group.back().communicator->gpu, 0;
}
const char* ncclGetErrorString(int code) {
  if (code == 2) return "unhandled system error";
  return code == fake::kInvalidUsage ? "invalid usage" : "invalid argument";
}

// The truth, for tests: how many collectives ran, how many communicators are open.
void fake_collectives(size_t* done, size_t* open) {
  *done = fake::collectives_done;
  *open = fake::communicators_open;
}

}  // extern "C"
