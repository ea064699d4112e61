#include "power/settings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kFewestIterations = 3;
constexpr double kSameWork = 0.02;  // maximum share of launches that may differ

Error refuse(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

double launches_of(const SettingRun& run, const std::string& kernel) {
  const auto found = run.launches.find(kernel);
  return found == run.launches.end() ? 0 : found->second;
}

std::string number(double value) {
  const double tenths = std::round(value * 10) / 10;
  std::string text = std::to_string(tenths);
  text.erase(text.find('.') + 2);
  if (text.size() > 2 && text.substr(text.size() - 2) == ".0") text.erase(text.size() - 2);
  return text;
}

// Fails if more than kSameWork of the launches per iteration have no counterpart in the other run.
Status check_same_work(const SettingRun& first, const SettingRun& other) {
  std::set<std::string> kernels;
  for (const SettingRun* run : {&first, &other}) {
    for (const auto& [kernel, count] : run->launches) kernels.insert(kernel);
  }
  double apart = 0;
  double all = 0;
  double most_apart = -1;
  std::string most;
  for (const std::string& kernel : kernels) {
    const double a = launches_of(first, kernel);
    const double b = launches_of(other, kernel);
    apart += std::fabs(a - b);
    all += std::max(a, b);
    if (std::fabs(a - b) <= most_apart) continue;
    most_apart = std::fabs(a - b);
    most = kernel;
  }
  if (all <= 0) return refuse(first.name + " and " + other.name + ": no kernels to compare");
  if (apart <= kSameWork * all) return Ok{};
  return refuse(first.name + " and " + other.name + " are not the same work: " +
                number(100 * apart / all) + " % of the launches of an iteration differ, most in " +
                most + " (" + number(launches_of(first, most)) + " against " +
                number(launches_of(other, most)) + " per iteration)");
}

Status check_runs(const std::vector<SettingRun>& runs) {
  if (runs.size() < 2) return refuse("a sweep needs recordings of two settings or more");
  std::set<std::string> names;
  for (const SettingRun& run : runs) {
    if (!names.insert(run.name).second) return refuse(run.name + ": given twice");
    if (run.iteration_s.size() < kFewestIterations) {
      return refuse(
          run.name + ": " + std::to_string(run.iteration_s.size()) +
          " iterations were recorded, at least 3 are needed to know how much they differ");
    }
    if (run.gpu != runs.front().gpu && !run.gpu.empty() && !runs.front().gpu.empty()) {
      return refuse(runs.front().name + " ran on " + runs.front().gpu + ", " + run.name + " on " +
                    run.gpu + ": what differs is not the setting alone");
    }
    if (&run != &runs.front()) ASSAY_TRY(check_same_work(runs.front(), run));
  }
  return Ok{};
}

// A mean and its relative errors: half-widths at 95 %, as shares.
struct Mean {
  double value = 0;
  double scatter = 0;  // of the iterations
  double below = 0;    // of the sensor
  double above = 0;

  Between95 between() const {
    return {value, value * std::max(0.0, 1 - std::hypot(scatter, below)),
            value * (1 + std::hypot(scatter, above))};
  }
};

Mean mean_of(const std::vector<double>& values, const SettingRun* sensor) {
  const MeanInterval interval = mean_interval95(values);
  Mean mean{interval.mean, (interval.high - interval.low) / 2 / interval.mean, 0, 0};
  if (sensor == nullptr) return mean;
  mean.below = 1 - sensor->power_low_w / sensor->power_w;
  mean.above = sensor->power_high_w / sensor->power_w - 1;
  return mean;
}

// The ratio of two independent means, less 1.
SettingChange change_of(const Mean& base, const Mean& now) {
  const double ratio = now.value / base.value;
  const double below = std::sqrt(base.scatter * base.scatter + now.scatter * now.scatter +
                                 base.above * base.above + now.below * now.below);
  const double above = std::sqrt(base.scatter * base.scatter + now.scatter * now.scatter +
                                 base.below * base.below + now.above * now.above);
  SettingChange change{{ratio - 1, ratio * std::exp(-below) - 1, ratio * std::exp(above) - 1},
                       false};
  change.told = change.share.low > 0 || change.share.high < 0;
  return change;
}

struct Means {
  Mean time;
  Mean energy;
  Mean edp;
};

Means means_of(const SettingRun& run) {
  std::vector<double> products;
  for (size_t i = 0; i < run.iteration_s.size(); ++i) {
    products.push_back(run.iteration_s[i] * run.iteration_j[i]);
  }
  return {mean_of(run.iteration_s, nullptr), mean_of(run.iteration_j, &run),
          mean_of(products, &run)};
}

// The setting with the minimum of a quantity, among those that differ significantly from the first.
size_t least_of(const std::vector<SettingResult>& settings, SettingChange SettingResult::* change) {
  size_t least = SIZE_MAX;
  for (size_t i = 1; i < settings.size(); ++i) {
    const SettingChange& one = settings[i].*change;
    if (!one.told || one.share.value >= 0) continue;
    if (least == SIZE_MAX || one.share.value < (settings[least].*change).share.value) least = i;
  }
  return least;
}

}  // namespace

Result<SettingsReport> compare_settings(const std::vector<SettingRun>& runs) {
  ASSAY_TRY(check_runs(runs));
  SettingsReport report;
  report.gpu = runs.front().gpu;
  const Means base = means_of(runs.front());
  for (const SettingRun& run : runs) {
    const Means means = means_of(run);
    SettingResult result{.name = run.name,
                         .iterations = run.iteration_s.size(),
                         .time_s = means.time.between(),
                         .power_w = {run.power_w, run.power_low_w, run.power_high_w},
                         .energy_j = means.energy.between(),
                         .edp_js = means.edp.between(),
                         .time_change = {},
                         .energy_change = {},
                         .edp_change = {}};
    if (&run != &runs.front()) {
      result.time_change = change_of(base.time, means.time);
      result.energy_change = change_of(base.energy, means.energy);
      result.edp_change = change_of(base.edp, means.edp);
    }
    report.settings.push_back(std::move(result));
  }
  report.least_energy = least_of(report.settings, &SettingResult::energy_change);
  report.least_edp = least_of(report.settings, &SettingResult::edp_change);
  return report;
}

}  // namespace assay
