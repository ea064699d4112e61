// The run's own iteration against pairs of a recording and of the same program without a recorder.
//
//   assay_untraced_pairs --table [FILE=UNTRACED_MS:PROGRAM:NAME]...   rows of data/tables/tracer_cost.tsv
//   assay_untraced_pairs --check [the same]...                        what is found with the program's pairs left out
//   assay_untraced_pairs --generated RUNS                             T_Orch of made-up runs of known costs
//
// For tests/golden/check_untraced.py.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/stats.h"
#include "flow/judged.h"
#include "flow/untraced.h"
#include "ingest/load.h"
#include "overhead/overhead.h"
#include "support/trace_maker.h"

namespace {

using namespace assay;

struct Pair {
  std::string file;
  int64_t untraced_ns = 0;
  std::string program;
  std::string name;
};

Pair parse_pair(const std::string& text) {
  const size_t equal = text.find('=');
  const size_t first = text.find(':', equal);
  const size_t second = text.find(':', first + 1);
  return {text.substr(0, equal),
          std::llround(1e6 * std::strtod(text.c_str() + equal + 1, nullptr)),
          text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

std::string us(double ns) {
  if (std::isnan(ns)) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", ns / 1000);
  return text;
}

struct Loaded {
  explicit Loaded(Trace read)
      : trace(std::move(read)),
        links(link_trace(trace)),
        iterations(find_iterations(trace, links)),
        model(make_flow_model(trace, links)),
        replay(model, iterations) {}
  Trace trace;
  Links links;
  Windows iterations;
  FlowModel model;
  UntracedReplay replay;
};

void print_row(const Pair& pair, const Loaded& of) {
  const bool costly = rows_tell(of.replay);
  const auto cost =
      costly ? of.replay.solve(CostShape::kRows, pair.untraced_ns) : std::optional<double>();
  const std::string gpu = of.trace.devices.empty() ? "" : of.trace.devices.front().name;
  std::printf("%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.0f\t%s\t%s\n",
              std::string(recorder_of(of.trace)).c_str(), pair.program.c_str(), pair.name.c_str(),
              gpu.c_str(), static_cast<double>(of.replay.iteration_ns({})) / 1000,
              static_cast<double>(pair.untraced_ns) / 1000, of.replay.rows_per_iteration(),
              us(of.replay.witness_ns()).c_str(), cost ? us(*cost).c_str() : "");
}

struct Judged {
  std::string word = "";
  double orchestration_ns = 0;  // T_Orch an iteration
  int64_t iteration_ns = 0;
};

Judged judge(const Trace& trace, const Windows& iterations) {
  const Links links = link_trace(trace);
  FlowModel model = make_flow_model(trace, links);
  Judged judged;
  auto run = judge_run(model, iterations, {}, "");
  if (run) judged.word = bound_by_word(run->verdict.bound);
  const auto overhead = analyze_overhead(trace, links, iterations, {});
  if (overhead && !overhead->windows.empty()) {
    judged.orchestration_ns = overhead->means.t_orch_ns.mean;
  }
  std::vector<int64_t> lengths;
  for (const Window& window : iterations.windows) {
    lengths.push_back(window.end_ns - window.start_ns);
  }
  if (!lengths.empty()) judged.iteration_ns = median_ns(lengths);
  return judged;
}

void print_check(const Pair& pair, const Loaded& of) {
  const CostFit fit =
      fit_recording_cost(tracer_cost_text(), recorder_of(of.trace), pair.program);
  const Untraced found = find_untraced(of.model, of.replay, std::nullopt, fit);
  const auto at = [&of](CostShape shape, std::optional<double> strength) {
    if (!strength) return Judged{.word = "-"};
    const auto retimed = of.replay.retimed(recording_cost(shape, *strength));
    return retimed ? judge(retimed->trace, retimed->iterations) : Judged{.word = "out_of_order"};
  };
  const auto border = [](int64_t row_ns) { return static_cast<double>(row_ns) / 2; };
  const Judged recorded = judge(of.trace, of.iterations);
  const auto solved = of.replay.solve(CostShape::kRows, pair.untraced_ns);
  const Judged anchored = at(CostShape::kRows, solved);
  const Judged fast = at(CostShape::kRows, border(found.row_cost_high_ns));
  const Judged middle = at(CostShape::kRows, border(found.row_cost_ns));
  double low_ns = solved ? anchored.orchestration_ns : INFINITY;
  double high_ns = anchored.orchestration_ns;
  for (const CostShape shape : {CostShape::kOps, CostShape::kCalls, CostShape::kPace}) {
    const auto strength = of.replay.solve(shape, pair.untraced_ns);
    if (!strength) continue;
    const double ns = at(shape, strength).orchestration_ns;
    low_ns = std::min(low_ns, ns);
    high_ns = std::max(high_ns, ns);
  }
  if (std::isinf(low_ns)) low_ns = 0;
  std::printf("%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
              pair.name.c_str(), pair.program.c_str(), rows_tell(of.replay) ? 1 : 0,
              us(static_cast<double>(found.recorded_iteration_ns)).c_str(),
              us(static_cast<double>(pair.untraced_ns)).c_str(),
              us(static_cast<double>(found.iteration_ns)).c_str(),
              us(static_cast<double>(found.low_ns)).c_str(),
              us(static_cast<double>(found.high_ns)).c_str(), us(of.replay.witness_ns()).c_str(),
              solved ? us(*solved).c_str() : "", us(static_cast<double>(anchored.iteration_ns)).c_str(),
              recorded.word.c_str(), anchored.word.c_str(), middle.word.c_str(), fast.word.c_str(),
              us(recorded.orchestration_ns).c_str(), us(low_ns).c_str(), us(high_ns).c_str());
}

// ---- made-up runs ----

struct MadeRow {
  bool is_call = false;
  std::string name;
  int64_t kernel_ns = 0;  // that it launches
};
struct MadeBorder {
  int64_t own_ns = 0;  // of the program, since the border before
  size_t row = 0;
  bool begins = false;
};
struct MadeStep {
  std::vector<MadeRow> rows;
  std::vector<MadeBorder> borders;
};

MadeStep made_step(SplitMix64& random) {
  MadeStep step;
  const auto own = [&random](double us) {
    return static_cast<int64_t>(1000 * us * std::exp(0.5 * random.normal()));
  };
  const auto add = [&step](bool is_call, const char* name, int64_t kernel_ns = 0) {
    step.rows.push_back({is_call, name, kernel_ns});
    return step.rows.size() - 1;
  };
  const double kernel_us = random.uniform(1, 12);
  for (int64_t i = 60 + random.below(140); i > 0; --i) {
    const size_t outer = add(false, "aten::linear");
    step.borders.push_back({own(3), outer, true});
    for (int64_t k = random.below(4); k > 0; --k) {
      const size_t view = add(false, "aten::view");
      step.borders.push_back({own(0.5), view, true});
      step.borders.push_back({own(0.6), view, false});
    }
    const size_t inner = add(false, "aten::addmm");
    step.borders.push_back({own(0.5), inner, true});
    const size_t call = add(true, "cudaLaunchKernel", own(kernel_us));
    step.borders.push_back({own(4), call, true});
    step.borders.push_back({own(3), call, false});
    step.borders.push_back({own(1.5), inner, false});
    step.borders.push_back({own(0.5), outer, false});
  }
  const size_t wait = add(true, "cudaDeviceSynchronize");
  step.borders.push_back({own(1), wait, true});
  step.borders.push_back({0, wait, false});
  return step;
}

// The steps with a recorder of these costs.
Trace recorded(const std::vector<MadeStep>& steps, const RecordingCost& cost) {
  testing::TraceMaker maker;
  int64_t now_ns = 0;
  int64_t free_ns = 0;
  uint32_t id = 0;
  for (size_t n = 0; n < steps.size(); ++n) {
    const int64_t begin_ns = now_ns;
    double before = 0;
    std::vector<int64_t> begins(steps[n].rows.size());
    for (const MadeBorder& border : steps[n].borders) {
      const MadeRow& row = steps[n].rows[border.row];
      const double here = row.is_call ? cost.call_ns : cost.op_ns;
      now_ns += border.own_ns + std::llround((before + here) / 2);
      before = here;
      if (border.begins) {
        begins[border.row] = now_ns;
        continue;
      }
      if (row.name == "cudaDeviceSynchronize") now_ns = std::max(now_ns, free_ns + 3'000);
      const int64_t start_ns = begins[border.row];
      if (!row.is_call) {
        maker.op(1, row.name, start_ns, now_ns - start_ns);
        continue;
      }
      maker.call(1, row.name, start_ns, now_ns - start_ns, ++id);
      if (row.kernel_ns == 0) continue;
      const int64_t first_ns =
          std::max<int64_t>(start_ns + 5'000, free_ns + 700 + std::llround(cost.gap_ns));
      maker.kernel(0, 7, "gemm", first_ns, row.kernel_ns, id);
      free_ns = first_ns + row.kernel_ns;
    }
    maker.annotation(1, "ProfilerStep#" + std::to_string(n), begin_ns, now_ns - begin_ns);
    now_ns += 20'000;
  }
  return maker.build();
}

int print_generated(int runs) {
  std::vector<double> too_large;
  std::vector<double> off;
  std::vector<double> width;
  size_t inside = 0;
  for (int seed = 0; seed < runs; ++seed) {
    SplitMix64 random(static_cast<uint64_t>(seed));
    const MadeStep made = made_step(random);
    std::vector<MadeStep> steps(4, made);
    for (MadeStep& step : steps) {
      for (MadeBorder& border : step.borders) {
        border.own_ns = std::llround(static_cast<double>(border.own_ns) *
                                     std::exp(0.05 * random.normal()));
      }
    }
    const auto cost = [&random] {
      return 1000 * std::exp(random.uniform(std::log(0.3), std::log(6.0)));
    };
    RecordingCost costs{.op_ns = cost(), .call_ns = cost()};
    costs.gap_ns = 0.4 * costs.op_ns;
    const Loaded real(recorded(steps, {}));
    const Judged truth = judge(real.trace, real.iterations);
    const Loaded of(recorded(steps, costs));
    if (!rows_tell(of.replay)) continue;
    std::vector<double> ends;
    for (size_t shape = 0; shape < kCostShapes; ++shape) {
      const auto strength = of.replay.solve(static_cast<CostShape>(shape), truth.iteration_ns);
      if (!strength) continue;
      const auto retimed =
          of.replay.retimed(recording_cost(static_cast<CostShape>(shape), *strength));
      if (retimed) ends.push_back(judge(retimed->trace, retimed->iterations).orchestration_ns);
    }
    if (ends.empty()) continue;
    const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
    const double true_ns = truth.orchestration_ns;
    too_large.push_back(judge(of.trace, of.iterations).orchestration_ns / true_ns - 1);
    off.push_back(std::abs(ends.front() / true_ns - 1));
    width.push_back((*high - *low) / true_ns);
    inside += *low * 0.98 <= true_ns && true_ns <= *high * 1.02;
  }
  std::printf("runs\t%zu\nrecorded\t%.6f\noff\t%.6f\nwidth\t%.6f\ninside\t%.6f\n", off.size(),
              median(too_large), median(off), median(width),
              static_cast<double>(inside) / static_cast<double>(off.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (std::string_view(argv[1]) == "--generated" && argc == 3) {
    return print_generated(std::atoi(argv[2]));
  }
  const bool table = std::string_view(argv[1]) == "--table";
  if (!table) {
    std::puts(
        "recording\tprogram\tcostly\trecorded_us\tuntraced_us\testimate_us\tlow_us\thigh_us\t"
        "witness_us\tcost_us\tanchored_us\trecorded\tanchored\testimated\tfastest\tt_orch_us\t"
        "t_orch_low_us\tt_orch_high_us");
  }
  for (int i = 2; i < argc; ++i) {
    const Pair pair = parse_pair(argv[i]);
    auto trace = load_trace(pair.file, {});
    if (!trace) {
      std::fprintf(stderr, "%s: %s\n", pair.file.c_str(), trace.error().message.c_str());
      return 1;
    }
    const Loaded loaded(*std::move(trace));
    table ? print_row(pair, loaded) : print_check(pair, loaded);
  }
  return 0;
}
