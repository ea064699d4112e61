#include "devices/deadline.h"

#include <string>
#include <utility>

namespace assay {
namespace {

class DeadlineDevice final : public PowerDevice {
 public:
  DeadlineDevice(std::unique_ptr<PowerDevice> device, int64_t budget_ns)
      : device_(std::move(device)), budget_ns_(budget_ns), end_ns_(device_->now_ns() + budget_ns) {}

  const DeviceFacts& facts() const override { return device_->facts(); }
  Result<PreparedKernel> prepare(const std::string& workload) override {
    ASSAY_TRY(time_for(0));
    return device_->prepare(workload);
  }
  int64_t now_ns() override { return device_->now_ns(); }
  Status wait_ns(int64_t duration) override {
    ASSAY_TRY(time_for(duration));
    return device_->wait_ns(duration);
  }
  Result<ClockProbe> probe() override {
    ASSAY_TRY(time_for(0));
    return device_->probe();
  }
  Status start_logging(const LogRequest& request) override {
    ASSAY_TRY(time_for(0));
    return device_->start_logging(request);
  }
  Result<std::vector<PowerExecution>> execute(uint32_t run,
                                              const std::vector<uint32_t>& kernels) override {
    ASSAY_TRY(time_for(0));
    return device_->execute(run, kernels);
  }
  uint32_t timed_together(const std::vector<uint32_t>& kernels) const override {
    return device_->timed_together(kernels);
  }
  // Returns the logged samples even after the deadline.
  Result<std::vector<PowerSample>> stop_logging() override { return device_->stop_logging(); }
  Result<std::optional<double>> energy_j() override { return device_->energy_j(); }
  std::optional<PowerTruth> truth() const override { return device_->truth(); }

 private:
  Status time_for(int64_t duration) {
    if (device_->now_ns() + duration <= end_ns_) return Ok{};
    return Error{ErrorCode::kIo,
                 "the time of " + std::to_string(budget_ns_ / 1'000'000'000) +
                     " s was up before it was done (--budget gives it more)",
                 "", -1};
  }

  std::unique_ptr<PowerDevice> device_;
  int64_t budget_ns_;
  int64_t end_ns_;
};

}  // namespace

std::unique_ptr<PowerDevice> with_deadline(std::unique_ptr<PowerDevice> device, int64_t budget_ns) {
  return std::make_unique<DeadlineDevice>(std::move(device), budget_ns);
}

}  // namespace assay
