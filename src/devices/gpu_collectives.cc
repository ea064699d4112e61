#include "devices/gpu_collectives.h"

#include <utility>

namespace assay {
namespace {

constexpr std::array<int, 4> kNcclTypes = {6, 9, 7, 8};  // ncclFloat16, Bfloat16, Float32, Float64
constexpr int kSum = 0;                                  // ncclSum

Status bind(const DynamicLibrary& library, CollectiveApi& api) {
  ASSAY_TRY(library.bind("ncclCommInitAll", api.init_all));
  ASSAY_TRY(library.bind("ncclCommDestroy", api.destroy));
  ASSAY_TRY(library.bind("ncclGroupStart", api.group_start));
  ASSAY_TRY(library.bind("ncclGroupEnd", api.group_end));
  ASSAY_TRY(library.bind("ncclAllReduce", api.all_reduce));
  ASSAY_TRY(library.bind("ncclAllGather", api.all_gather));
  return library.bind("ncclGetErrorString", api.error_text);
}

Error alone() {
  return Error{ErrorCode::kInvalidArgument,
               "a collective of one GPU moves nothing over a link: the driver shows 1 GPU (are "
               "some hidden by CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES?)",
               "", -1};
}

}  // namespace

Status GpuCollectives::check(int code, const char* doing) const {
  if (code == 0) return Ok{};
  const char* text = api_.error_text(code);
  return Error{
      ErrorCode::kIo,
      std::string(doing) + " failed: " + (text != nullptr ? text : "error " + std::to_string(code)),
      "", -1};
}

Result<std::unique_ptr<GpuCollectives>> GpuCollectives::open(GpuVendor vendor,
                                                             const GpuRuntime& measured,
                                                             const CollectiveLibraries& libraries) {
  ASSAY_TRY_ASSIGN(const int count, measured.device_count());
  if (count < 2) return alone();
  ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                   DynamicLibrary::open(libraries.collectives, libraries.missing));
  std::unique_ptr<GpuCollectives> made(new GpuCollectives(measured));
  ASSAY_TRY(bind(library, made->api_));
  const Status opened = made->open_peers(vendor, libraries, count);
  ASSAY_TRY(measured.use());
  ASSAY_TRY(opened);
  std::vector<int> ordinals;
  for (const Rank& rank : made->ranks_) ordinals.push_back(rank.runtime->ordinal());
  std::vector<void*> communicators(ordinals.size(), nullptr);
  const int code = made->api_.init_all(communicators.data(), count, ordinals.data());
  ASSAY_TRY(measured.use());
  ASSAY_TRY(made->check(code, "connecting the GPUs for collectives"));
  for (size_t i = 0; i < communicators.size(); ++i) {
    made->ranks_[i].communicator = communicators[i];
  }
  return made;
}

Status GpuCollectives::open_peers(GpuVendor vendor, const CollectiveLibraries& libraries,
                                  int count) {
  ASSAY_TRY_ASSIGN(const GpuHelpers helpers, load_helpers(measured_, libraries.helpers));
  ranks_.push_back({&measured_, helpers, nullptr});
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (ordinal == measured_.ordinal()) continue;
    ASSAY_TRY_ASSIGN(GpuRuntime peer, GpuRuntime::open(vendor, ordinal, libraries.driver));
    peers_.push_back(std::make_unique<GpuRuntime>(std::move(peer)));
    ASSAY_TRY_ASSIGN(const GpuHelpers own, load_helpers(*peers_.back(), libraries.helpers));
    ranks_.push_back({peers_.back().get(), own, nullptr});
  }
  return Ok{};
}

GpuCollectives::~GpuCollectives() {
  for (const Prepared& one : prepared_) {
    for (size_t i = 0; i < one.buffers.size(); ++i) {
      const GpuRuntime& runtime = *ranks_[i].runtime;
      if (!runtime.use()) continue;
      for (void* buffer : one.buffers[i]) {
        if (buffer != nullptr) runtime.api().release(buffer);
      }
    }
  }
  for (const Rank& rank : ranks_) {
    if (rank.communicator != nullptr) api_.destroy(rank.communicator);
  }
  (void)measured_.use();
}

Result<size_t> GpuCollectives::prepare(const Workload& work) {
  Prepared one;
  one.work = work;
  one.from_bytes = static_cast<size_t>(work.array_bytes);
  if (work.kind == WorkloadKind::kAllGather) {
    const size_t whole = ranks() * static_cast<size_t>(data_type_bytes(work.type));
    if (one.from_bytes % whole != 0) {
      return Error{ErrorCode::kInvalidArgument,
                   "the bytes are gathered from " + std::to_string(ranks()) +
                       " GPUs in equal parts: take a multiple of " + std::to_string(whole),
                   "", -1};
    }
    one.from_bytes /= ranks();
  }
  prepared_.push_back(std::move(one));
  const Status made = make_buffers(prepared_.back());
  ASSAY_TRY(measured_.use());
  ASSAY_TRY(made);
  return prepared_.size() - 1;
}

Status GpuCollectives::make_buffers(Prepared& one) {
  one.buffers.resize(ranks(), {nullptr, nullptr});
  const auto from_bytes = static_cast<int64_t>(one.from_bytes);
  for (size_t i = 0; i < ranks(); ++i) {
    const Rank& rank = ranks_[i];
    ASSAY_TRY(rank.runtime->use());
    ASSAY_TRY(
        make_filled(*rank.runtime, rank.helpers, from_bytes, one.work.type, one.buffers[i][0]));
    ASSAY_TRY(make_filled(*rank.runtime, rank.helpers, one.work.array_bytes, one.work.type,
                          one.buffers[i][1]));
  }
  return Ok{};
}

Status GpuCollectives::enqueue(size_t prepared) {
  const Prepared& one = prepared_[prepared];
  ASSAY_TRY(check(api_.group_start(), "beginning a collective"));
  Status asked = Ok{};
  for (size_t i = 0; i < ranks() && asked; ++i) {
    asked = enqueue_on(ranks_[i], one, one.buffers[i]);
  }
  // A started group must be ended even after an error.
  const Status ended = check(api_.group_end(), "running a collective");
  ASSAY_TRY(measured_.use());
  ASSAY_TRY(asked);
  return ended;
}

Status GpuCollectives::enqueue_on(const Rank& rank, const Prepared& one,
                                  const std::array<void*, 2>& buffers) {
  const int type = kNcclTypes[static_cast<size_t>(one.work.type)];
  const size_t count = one.from_bytes / static_cast<size_t>(data_type_bytes(one.work.type));
  void* stream = rank.runtime->stream();
  if (one.work.kind == WorkloadKind::kAllGather) {
    return check(api_.all_gather(buffers[0], buffers[1], count, type, rank.communicator, stream),
                 "asking for an all-gather");
  }
  return check(
      api_.all_reduce(buffers[0], buffers[1], count, type, kSum, rank.communicator, stream),
      "asking for an all-reduce");
}

Status GpuCollectives::synchronize() const {
  Status waited = Ok{};
  for (const auto& peer : peers_) {
    waited = peer->use();
    if (waited) waited = peer->synchronize();
    if (!waited) break;
  }
  ASSAY_TRY(measured_.use());
  return waited;
}

double GpuCollectives::bytes(size_t prepared) const {
  const Prepared& one = prepared_[prepared];
  return static_cast<double>(one.from_bytes) + static_cast<double>(one.work.array_bytes);
}

}  // namespace assay
