#include "power/procedure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/numbers.h"
#include "base/random.h"
#include "base/stats.h"
#include "power/settling.h"

namespace assay {
namespace {

constexpr uint32_t kTimings = 5;          // step 1
constexpr uint32_t kTimedExecutions = 8;  // per timing, of which the first may be warm-ups
constexpr int64_t kMaybeLongEnough = 20'000;
constexpr uint32_t kSseExecutions = 4;      // step 3
constexpr uint32_t kDelayBenchmark = 1000;  // probes at idle (spec/power 3)
constexpr uint32_t kProbesAroundRun = 10;
constexpr uint32_t kPlanningRuns = 0xffff0000;          // run numbers that are never recorded
constexpr int64_t kCoolDown = 30 * kMillisecondNs;      // idle before each run, to start alike
constexpr uint32_t kMeanRuns = 48;                      // at least 32 repetitions (Yang et al.)
constexpr double kGoldenShare = 0.6;                    // expected share of golden runs
constexpr int64_t kSettlingSpan = 50 * kMillisecondNs;  // watched for throttling, at least
constexpr uint32_t kSettlingRuns = 24;
constexpr uint32_t kFewSettlingRuns = 4;
constexpr uint32_t kMostGrowth = 6;
// Heat and power limits act within seconds. At the end, one run of this length shows them.
constexpr int64_t kLateSpan = 8'000 * kMillisecondNs;
constexpr uint32_t kMostLate = 200'000;  // its maximum number of executions
constexpr uint32_t kMostExecutions = 4'000'000;
constexpr double kMostSamples = 2e6;    // of one measurement run: a few hundred MB
constexpr double kLongestCampaign = 6;  // hours

// One decimal below 10, none above.
std::string fixed(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), value < 10 ? "%.1f" : "%.0f", value);
  return text;
}

int64_t duration(const PowerExecution& execution) { return execution.end_ns - execution.start_ns; }

class Procedure {
 public:
  Procedure(PowerDevice& device, const ProcedureOptions& options, const ProcedureObserver& observer)
      : device_(device),
        options_(options),
        observer_(observer),
        recording_(recording_head(device.facts())) {
    if (options.sensor) recording_.sensor = *options.sensor;
    recording_.seed = options.seed;
  }

  Result<ProcedureResult> run(const std::vector<WorkloadStep>& steps,
                              const ProcedureResume* resume) {
    if (options_.budget_ns > 0) end_ns_ = device_.now_ns() + options_.budget_ns;
    ASSAY_TRY(prepare(steps));
    ProfileOptions profiling = options_.profile;
    profiling.kernel = kernel_;
    profiling.seed = options_.seed;
    if (resume != nullptr) {
      ASSAY_TRY(take_up(*resume));
    } else {
      ASSAY_TRY_ASSIGN(const std::string refusal, make_plan());
      if (!refusal.empty()) return refused(refusal);
      ASSAY_TRY(announce());
    }
    return measure(profiling);
  }

 private:
  Status prepare(const std::vector<WorkloadStep>& steps) {
    if (steps.empty()) {
      return Error{ErrorCode::kInvalidArgument, "there is no workload to run", "", -1};
    }
    for (const WorkloadStep& step : steps) {
      if (!recording_.workload.empty()) recording_.workload += " , ";
      if (steps.size() > 1) recording_.workload += std::to_string(step.count) + "*";
      recording_.workload += step.workload.text;
      ASSAY_TRY_ASSIGN(const PreparedKernel prepared, device_.prepare(step.workload.text));
      if (prepared.id == recording_.kernels.size()) {
        recording_.kernels.push_back(prepared.name);
        recording_.kernel_flop.push_back(prepared.flop);
        recording_.kernel_bytes.push_back(prepared.bytes);
      }
      if (prepared.id >= recording_.kernels.size()) {
        return Error{ErrorCode::kInternal, "the device already held kernels", "", -1};
      }
      kernel_ = prepared.id;
      before_.insert(before_.end(), step.count, prepared.id);
    }
    before_.pop_back();  // the profiled one
    interleaved_ = !before_.empty();
    return Ok{};
  }

  // Executions of one run if the profiled kernel runs `count` times.
  std::vector<uint32_t> sequence(uint32_t count) const {
    std::vector<uint32_t> all = before_;
    all.insert(all.end(), count, kernel_);
    return all;
  }

  void tell(const char* stage, uint32_t done, uint32_t total) const {
    if (observer_.progress) observer_.progress({stage, done, total});
  }

  // ---- steps 1, 3 and 4: before recording ----

  // Reason why nothing can be measured; empty if the plan is complete.
  Result<std::string> make_plan() {
    const SensorModel& sensor = recording_.sensor;
    if (sensor.window_ns <= 0 || sensor.period_ns <= 0) {
      return std::string(
          "the window and period of this sensor are unknown: run `assay power calibrate` first");
    }
    ASSAY_TRY(check_least_length());
    ASSAY_TRY(time_kernel());
    ASSAY_TRY(check_length(static_cast<double>(plan_.t_exec_ns)));
    // Before throttling, an execution may be shorter than a settled one.
    const auto table = look_up(plan_.t_exec_ns >= kMaybeLongEnough);
    if (!table) return too_short();
    decide_on_curve(table->runs);
    ASSAY_TRY(count_executions());
    plan_.timed_together = device_.timed_together(sequence(plan_.executions_per_run));
    return look_up(false) ? std::string() : too_short();
  }

  // Fails before anything runs if the workload takes too long even at the device's peak.
  Status check_least_length() {
    for (const uint32_t kernel : before_) before_ns_ += least_ns(kernel);
    return check_length(least_ns(kernel_));
  }

  double least_ns(uint32_t kernel) const {
    const DeviceFacts& facts = device_.facts();
    const double flop = recording_.kernel_flop[kernel];
    const double bytes = recording_.kernel_bytes[kernel];
    double least_s = 0;
    if (facts.peak_flops > 0 && flop > 0) least_s = flop / facts.peak_flops;
    if (facts.peak_bytes_per_s > 0 && bytes > 0) {
      least_s = std::max(least_s, bytes / facts.peak_bytes_per_s);
    }
    return least_s * 1e9;
  }

  // Fails if a measurement run with executions of t_ns exceeds the limits of time or samples.
  Status check_length(double t_ns) const {
    if (t_ns + before_ns_ < kMillisecondNs)
      return Ok{};  // shorter runs are limited by their number
    t_ns = std::max(t_ns, 1.0);
    const auto table = plan_profile(std::llround(t_ns), true);
    const double runs = options_.runs.value_or(table ? table->runs : kMeanRuns);
    const double window = static_cast<double>(recording_.sensor.window_ns);
    const double executions = interleaved_ ? 1 : kSseExecutions + window / t_ns;
    const double run_ns = before_ns_ + executions * t_ns;
    const double timings_ns = kTimings * (interleaved_ ? run_ns : kTimedExecutions * t_ns);
    const double logged_ns = (runs + (interleaved_ ? 0 : kSettlingRuns)) * run_ns;
    const double samples = logged_ns / static_cast<double>(recording_.sensor.period_ns);
    const double hours = (timings_ns + logged_ns) / 3.6e12;
    if (samples <= kMostSamples && hours <= kLongestCampaign) return Ok{};
    return Error{ErrorCode::kInvalidArgument,
                 "a run of this workload takes about " + fixed(run_ns / 1e9) +
                     " s: " + std::to_string(std::llround(runs)) + " of them would take " +
                     fixed(hours) + " hours and give " + fixed(samples / 1e6) +
                     " million samples, about " + fixed(samples * sizeof(PowerSample) / 1e6) +
                     " MB; the most are 6 hours and 2 million: take a smaller workload or fewer "
                     "--runs",
                 "", -1};
  }

  std::string too_short() const {
    return "the kernel takes " + std::to_string(plan_.t_exec_ns) +
           " ns; the method is published for 25 us and more (--force scales its first row)";
  }

  std::optional<ProfilePlan> look_up(bool force) {
    const auto table = plan_profile(plan_.t_exec_ns, force || options_.profile.force);
    if (!table) return std::nullopt;
    plan_.loi_target = static_cast<uint32_t>(divide_up(plan_.t_exec_ns, table->loi_spacing_ns));
    if (!plan_.mean_only) plan_.runs = options_.runs.value_or(table->runs);
    return table;
  }

  Status time_kernel() {
    std::vector<int64_t> settled;
    std::vector<std::vector<int64_t>> by_place(kTimedExecutions);
    for (uint32_t timing = 0; timing < kTimings; ++timing) {
      tell("timing", timing, kTimings);
      ASSAY_TRY(device_.wait_ns(kCoolDown));
      const uint32_t count = interleaved_ ? 1 : kTimedExecutions;
      ASSAY_TRY_ASSIGN(const auto executions,
                       device_.execute(kPlanningRuns + timing, sequence(count)));
      std::vector<int64_t> last;
      for (size_t i = 0; i < count; ++i) {
        const int64_t took = duration(executions[before_.size() + i]);
        by_place[i].push_back(took);
        if (interleaved_ || i + 1 >= kSseExecutions) last.push_back(took);
      }
      settled.push_back(median_ns(std::move(last)));
    }
    plan_.t_exec_ns = std::max<int64_t>(1, median_ns(std::move(settled)));
    if (interleaved_) return Ok{};
    std::vector<int64_t> typical;
    for (auto& place : by_place) typical.push_back(median_ns(std::move(place)));
    const auto table = plan_profile(plan_.t_exec_ns, true);
    plan_.warm_ups = std::min(deduce_warm_ups(typical, table->margin), kTimedExecutions - 1);
    return Ok{};
  }

  // A curve needs enough samples inside one execution. A slow sensor gives only the mean.
  void decide_on_curve(uint32_t table_runs) {
    const double per_run =
        static_cast<double>(plan_.t_exec_ns) / static_cast<double>(recording_.sensor.period_ns);
    const double most_runs =
        static_cast<double>(table_runs) + options_.rounds * static_cast<double>(plan_.loi_target);
    plan_.mean_only = most_runs * per_run * kGoldenShare < plan_.loi_target ||
                      recording_.sensor.ramp_ns > 0;  // a ramp blurs the curve
    if (plan_.mean_only && !options_.runs) plan_.runs = kMeanRuns;
  }

  // Executions after which the window contains only settled executions of this kernel.
  uint32_t filling() const {
    const int64_t window = recording_.sensor.window_ns;
    if (options_.paper_counts) return ssp_executions(window, plan_.t_exec_ns, false);
    return std::max(kSseExecutions, plan_.warm_ups + windowful());
  }
  uint32_t windowful() const {
    return static_cast<uint32_t>(divide_up(recording_.sensor.window_ns, plan_.t_exec_ns)) + 1;
  }

  // Additional executions if samples are rare, so that the settled part contains some.
  uint32_t for_readings() const {
    if (!plan_.mean_only) return 0;
    return static_cast<uint32_t>(divide_up(2 * recording_.sensor.period_ns, plan_.t_exec_ns));
  }

  Status count_executions() {
    if (interleaved_) {
      plan_.fills_window = ssp_executions(recording_.sensor.window_ns, plan_.t_exec_ns, false);
      plan_.executions_per_run = 1;
      return Ok{};
    }
    plan_.fills_window = filling();
    ASSAY_TRY_ASSIGN(const Settling settling, outlast_throttling());
    // Settled executions may be shorter than the first timings.
    plan_.t_exec_ns = settling.t_exec_ns;
    plan_.throttles = !settling.settled || settling.from_execution > plan_.warm_ups;
    plan_.fills_window = filling();
    plan_.executions_per_run =
        plan_.throttles ? settling.from_execution + windowful() : plan_.fills_window;
    plan_.executions_per_run += for_readings();
    if (plan_.executions_per_run <= kMostExecutions) return Ok{};
    return Error{ErrorCode::kUnsupported,
                 "a run would need " + std::to_string(plan_.executions_per_run) +
                     " executions to fill the sensor's window: take a longer kernel",
                 "", -1};
  }

  // Step 4: doubles the run until its last two quarters agree. find_settling() also returns the
  // first execution from which all later ones agree.
  Result<Settling> outlast_throttling() {
    auto count = static_cast<uint32_t>(std::min<int64_t>(
        kMostExecutions, plan_.fills_window + divide_up(settling_span(), plan_.t_exec_ns)));
    Settling settling;
    for (uint32_t growth = 0; growth < kMostGrowth; ++growth, count *= 2) {
      ASSAY_TRY_ASSIGN(const SettlingRecord record, watch(count, settling_runs(count)));
      settling = find_settling(record, plan_.warm_ups, plan_.fills_window - 1);
      if (settling.settled || count > kMostExecutions / 2) break;
      if (settling_runs(2 * count) < kFewSettlingRuns) break;  // out of budget
    }
    return settling;
  }

  int64_t settling_span() const {
    const SensorModel& sensor = recording_.sensor;
    return std::max({kSettlingSpan, 4 * sensor.window_ns, 16 * sensor.period_ns});
  }

  // As many runs as fit in a third of the remaining budget, between 2 and the wanted number.
  uint32_t settling_runs(uint32_t count) const {
    const uint32_t wanted = plan_.mean_only ? kFewSettlingRuns : kSettlingRuns;
    const int64_t run_ns = std::max<int64_t>(1, count * plan_.t_exec_ns);
    const int64_t fit = std::max<int64_t>(0, (end_ns_ - device_.now_ns()) / 3 / run_ns);
    return fit >= wanted ? wanted : static_cast<uint32_t>(std::max<int64_t>(fit, 2));
  }

  Result<SettlingRecord> watch(uint32_t count, uint32_t runs) {
    SettlingRecord record;
    record.sensor = recording_.sensor;
    record.tick_hz = recording_.tick_hz;
    record.samples_on_cpu_clock = recording_.samples_on_cpu_clock;
    for (uint32_t i = 0; i < runs; ++i) {
      tell("settling", i, runs);
      const uint32_t run = kPlanningRuns + kTimings + settling_runs_++;
      ASSAY_TRY_ASSIGN(PowerRunRecord one, record_run(run, sequence(count)));
      record.runs.push_back(std::move(one.executions));
      record.samples.insert(record.samples.end(), one.samples.begin(), one.samples.end());
      record.probes.insert(record.probes.end(), one.probes.begin(), one.probes.end());
    }
    return record;
  }

  // ---- steps 5 to 9 ----

  Status announce() {
    if (observer_.planned) ASSAY_TRY(observer_.planned(recording_, plan_));
    return benchmark_delay();
  }

  Status take_up(const ProcedureResume& resume) {
    const PowerRecording& left = resume.recording;
    if (left.sensor.reading != recording_.sensor.reading) {
      return Error{ErrorCode::kInvalidArgument,
                   "the folder holds samples '" + left.sensor.reading + "' of the sensor, not '" +
                       recording_.sensor.reading + "': give --sensor as then, or another folder",
                   "", -1};
    }
    if (left.workload != recording_.workload || left.seed != recording_.seed ||
        left.device != recording_.device) {
      return Error{ErrorCode::kInvalidArgument,
                   "the folder holds another measurement run ('" + left.workload + "' on " +
                       left.device + ", seed " + std::to_string(left.seed) +
                       "): give its workload and seed to go on, or another folder",
                   "", -1};
    }
    // The name of a collective contains the number of GPUs.
    if (left.kernels != recording_.kernels) {
      return Error{ErrorCode::kInvalidArgument,
                   "the folder's runs are of " + left.kernels.back() + ", this would be " +
                       recording_.kernels.back() + ": name another folder",
                   "", -1};
    }
    plan_ = resume.plan;
    recording_ = left;
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const PowerExecution& execution : left.executions) {
      next_run_ = std::max(next_run_, execution.run + 1);
      last = std::max(last, execution.end_ns);
    }
    for (const ClockProbe& probe : left.probes) last = std::max(last, probe.c1_ns);
    if (left.probes.empty()) ASSAY_TRY(benchmark_delay());
    if (device_.now_ns() > last) return Ok{};
    if (!device_.facts().virtual_time) {
      return Error{ErrorCode::kInvalidArgument,
                   "this machine's clock was set back to before the end of the recording, which "
                   "therefore cannot continue; start in another folder",
                   "", -1};
    }
    return device_.wait_ns(last - device_.now_ns());
  }

  Status benchmark_delay() {
    PowerRunRecord benchmark;
    ASSAY_TRY(add_probes(kDelayBenchmark, benchmark.probes));
    return keep(benchmark);
  }

  Result<ProcedureResult> measure(const ProfileOptions& profiling) {
    ProcedureResult result;
    uint32_t wanted = plan_.runs;
    ProfileOptions counting = profiling;
    counting.bootstrap = 0;
    counting.check_sensor = false;
    for (result.rounds = 0;; ++result.rounds) {
      ASSAY_TRY(record_runs(wanted));
      ASSAY_TRY_ASSIGN(const KernelProfile counted, profile_kernel(recording_, counting));
      if (counted.lois >= plan_.loi_target || counted.verdict == PowerVerdict::kRefused ||
          plan_.mean_only || out_of_time_ || result.rounds == options_.rounds) {
        break;
      }
      wanted += std::max(1U, plan_.loi_target);
    }
    tell("stitching", 0, 1);
    ASSAY_TRY_ASSIGN(result.profile, profile_kernel(recording_, profiling));
    // The profile is complete, so a later device failure only loses `late`.
    auto late = watch_late(result.profile);
    if (late) result.late = *late;
    if (!late) result.late_failed = late.error().describe();
    result.recording = std::move(recording_);
    result.plan = plan_;
    result.runs = next_run_;
    result.runs_wanted = wanted;
    result.out_of_time = out_of_time_;
    return result;
  }

  // One run of seconds after all recorded runs, at least four times as long as these and as the
  // search for throttling. Does nothing if the budget or kMostLate is too small for it. The run is
  // not recorded, so all errors come from the device.
  Result<LateSettling> watch_late(const KernelProfile& profile) {
    if (interleaved_ || profile.verdict == PowerVerdict::kRefused) return LateSettling{};
    const int64_t early_ns = std::max(plan_.executions_per_run * plan_.t_exec_ns, settling_span());
    const int64_t left_ns = std::max<int64_t>(0, end_ns_ - device_.now_ns() - kCoolDown);
    const int64_t span_ns = std::min(std::max(kLateSpan, 5 * early_ns), left_ns);
    const int64_t count = std::min<int64_t>(divide_up(span_ns, plan_.t_exec_ns), kMostLate);
    if (count * plan_.t_exec_ns < 4 * early_ns) return LateSettling{};
    ASSAY_TRY_ASSIGN(const SettlingRecord record, watch(static_cast<uint32_t>(count), 1));
    const uint32_t from =
        plan_.executions_per_run - std::min(windowful() + for_readings(), plan_.executions_per_run);
    return find_late_settling(record, std::max(from, plan_.fills_window),
                              static_cast<uint32_t>(early_ns / plan_.t_exec_ns));
  }

  // Records at least kLeastRuns runs whatever the budget, then as many as fit in it.
  Status record_runs(uint32_t until) {
    constexpr uint32_t kLeastRuns = 3;
    const uint32_t first = next_run_;
    const int64_t began_ns = device_.now_ns();
    for (; next_run_ < until; ++next_run_) {
      const int64_t now_ns = device_.now_ns();
      const int64_t each_ns = (now_ns - began_ns) / std::max(1U, next_run_ - first);
      out_of_time_ = next_run_ >= kLeastRuns && now_ns > end_ns_ - each_ns;
      if (out_of_time_) break;
      tell("runs", next_run_, until);
      ASSAY_TRY_ASSIGN(const PowerRunRecord record,
                       record_run(next_run_, sequence(plan_.executions_per_run)));
      ASSAY_TRY(keep(record));
    }
    return Ok{};
  }

  Status keep(const PowerRunRecord& record) {
    recording_.samples.insert(recording_.samples.end(), record.samples.begin(),
                              record.samples.end());
    recording_.executions.insert(recording_.executions.end(), record.executions.begin(),
                                 record.executions.end());
    recording_.probes.insert(recording_.probes.end(), record.probes.begin(), record.probes.end());
    return observer_.recorded ? observer_.recorded(record) : Status(Ok{});
  }

  Status add_probes(uint32_t count, std::vector<ClockProbe>& probes) {
    if (recording_.samples_on_cpu_clock) return Ok{};
    for (uint32_t i = 0; i < count; ++i) {
      ASSAY_TRY_ASSIGN(const ClockProbe probe, device_.probe());
      probes.push_back(probe);
    }
    return Ok{};
  }

  Status delay_start(uint32_t run) {
    const int64_t period = recording_.sensor.period_ns;
    if (options_.random_delays) {
      return device_.wait_ns(SplitMix64(mix_seeds(options_.seed, run)).below(period));
    }
    return device_.wait_ns(period - device_.now_ns() % period);
  }

  Result<PowerRunRecord> record_run(uint32_t run, const std::vector<uint32_t>& kernels) {
    const SensorModel& sensor = recording_.sensor;
    PowerRunRecord record;
    record.run = run;
    // Waits until no window reaches back into the previous run.
    ASSAY_TRY(device_.wait_ns(std::max(kCoolDown, sensor.window_ns + sensor.delay_ns)));
    ASSAY_TRY(add_probes(kProbesAroundRun, record.probes));
    ASSAY_TRY(device_.start_logging({}));
    ASSAY_TRY(delay_start(run));
    auto executions = device_.execute(run, kernels);
    // The last window is reported up to a period and the sensor's delay later.
    const Status waited = device_.wait_ns(sensor.period_ns + sensor.delay_ns);
    auto samples = device_.stop_logging();
    if (!executions) return executions.take_error();
    ASSAY_TRY(waited);
    if (!samples) return samples.take_error();
    ASSAY_TRY(add_probes(kProbesAroundRun, record.probes));
    record.executions = *std::move(executions);
    record.samples = *std::move(samples);
    return record;
  }

  ProcedureResult refused(const std::string& reason) {
    ProcedureResult result;
    result.recording = recording_;
    result.plan = plan_;
    result.profile.name = recording_.kernels[kernel_];
    result.profile.t_exec_ns = plan_.t_exec_ns;
    result.profile.verdict = PowerVerdict::kRefused;
    result.profile.reasons = {reason};
    return result;
  }

  PowerDevice& device_;
  const ProcedureOptions& options_;
  const ProcedureObserver& observer_;
  PowerRecording recording_;
  PowerPlan plan_;
  std::vector<uint32_t> before_;  // kernels that run before the profiled one in each run
  double before_ns_ = 0;          // their minimum time
  uint32_t kernel_ = 0;
  bool interleaved_ = false;
  uint32_t next_run_ = 0;
  uint32_t settling_runs_ = 0;
  int64_t end_ns_ = std::numeric_limits<int64_t>::max();
  bool out_of_time_ = false;
};

}  // namespace

uint32_t deduce_warm_ups(const std::vector<int64_t>& durations_ns, double margin) {
  for (size_t j = 0; j < durations_ns.size(); ++j) {
    const std::vector<int64_t> rest(durations_ns.begin() + static_cast<std::ptrdiff_t>(j),
                                    durations_ns.end());
    const auto typical = static_cast<double>(median_ns(rest));
    const bool settled = std::all_of(rest.begin(), rest.end(), [&](int64_t took) {
      return std::fabs(static_cast<double>(took) / typical - 1) <= margin;
    });
    if (settled) return static_cast<uint32_t>(j);
  }
  return static_cast<uint32_t>(durations_ns.size());
}

Result<ProcedureResult> run_procedure(PowerDevice& device, const std::vector<WorkloadStep>& steps,
                                      const ProcedureOptions& options,
                                      const ProcedureObserver& observer,
                                      const ProcedureResume* resume) {
  return Procedure(device, options, observer).run(steps, resume);
}

}  // namespace assay
