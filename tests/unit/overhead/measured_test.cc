// The measured decomposition on databases and replays written by hand. Expected values are worked
// out in the comments; the first test is the specification's worked example.

#include "overhead/measured.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

SampleStats sample(double mean_ns, double std_ns = 0, uint64_t n = 150) {
  return {n, mean_ns, std_ns, mean_ns, mean_ns, mean_ns, mean_ns, mean_ns};
}

KernelSpread spread(double mean_ns, uint64_t n) { return {n, mean_ns, 0, mean_ns, mean_ns}; }

// Times in microseconds; dispatch and launch as the trace has them.
KernelDbEntry entry(const std::string& name, bool library, uint64_t frequency, double t_py,
                    double t_dispatch, double t_launch, double dur) {
  KernelDbEntry e;
  e.key = e.name = e.raw_name = name;
  e.library = library;
  e.family = library ? "GEMM (cuBLAS)" : "Other";
  e.frequency = frequency;
  e.single_launch = true;
  e.t_py = spread(1000 * t_py, frequency);
  e.t_dispatch = spread(1000 * t_dispatch, frequency);
  e.t_launch = spread(1000 * t_launch, frequency);
  e.duration = spread(1000 * dur, frequency);
  return e;
}

ReplayCandidate candidate(const std::string& name, double dispatch_us, double launch_us,
                          uint64_t count = 150) {
  ReplayCandidate c;
  c.name = name;
  c.count = count;
  c.dispatch = sample(1000 * dispatch_us);
  c.launch = sample(1000 * launch_us);
  c.duration = sample(5000);
  return c;
}

ReplayEntry replayed(const std::string& key, std::vector<ReplayCandidate> candidates) {
  ReplayEntry e;
  e.key = key;
  e.ranges = 150;
  e.candidates = std::move(candidates);
  return e;
}

KernelDatabase database(std::vector<KernelDbEntry> entries) {
  KernelDatabase db;
  db.gpu = "NVIDIA H200";
  db.tracer = Tracer::kPyTorchProfiler;
  for (const KernelDbEntry& e : entries) db.invocations += e.frequency;
  db.launches = db.invocations;
  db.entries = std::move(entries);
  return db;
}

ReplayFile replay(std::vector<ReplayEntry> entries) {
  ReplayFile file;
  file.source = "replay.json";
  file.head = {CollectorTracer::kNsys, "", 50, 150};
  file.gpu.name = "NVIDIA H200";
  file.entries = std::move(entries);
  return file;
}

MeasuredOptions options(int64_t floor_ns) {
  MeasuredOptions o;
  o.floor = {.source = FloorSource::kMeasured,
             .floor_ns = floor_ns,
             .samples = 150,
             .text = "measured",
             .tracer = CollectorTracer::kNsys};
  return o;
}

MeasuredReport measured(const KernelDatabase& db, const ReplayFile& file,
                        const MeasuredOptions& o) {
  auto report = measure_overhead(db, file, HostOverheadReport{}, o);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *report : MeasuredReport{};
}

bool has_note(const MeasuredReport& report, const std::string& what) {
  return std::any_of(report.trust.begin(), report.trust.end(),
                     [&](const TrustNote& note) { return note.what == what; });
}

// spec/overhead 8. The trace's own dispatch and launch times are far off: only the replay's may
// count.
KernelDatabase worked_database() {
  return database({entry("A", false, 4, 1.0, 50, 50, 3), entry("B", false, 2, 2.0, 50, 50, 4),
                   entry("C", false, 1, 0.5, 50, 50, 10), entry("D", true, 3, 1.5, 50, 50, 20),
                   entry("E", true, 1, 1.0, 50, 50, 5)});
}

ReplayFile worked_replay() {
  return replay(
      {replayed("E", {candidate("E", 4.0, 6.0)}), replayed("A", {candidate("A", 5.0, 4.9)}),
       replayed("B", {candidate("B", 6.0, 5.2)}), replayed("C", {candidate("C", 9.0, 4.4)}),
       replayed("D", {candidate("D", 11.5, 6.7)})});
}

TEST(MeasuredOverhead, WorkedExample) {
  const MeasuredReport report = measured(worked_database(), worked_replay(), options(4500));
  EXPECT_EQ(report.base_ns, 6000);
  EXPECT_EQ(report.sums.n, 11u);
  EXPECT_EQ(report.sums.t_py_ns, 14'000);
  EXPECT_EQ(report.sums.ft_ns, 80'000);
  EXPECT_EQ(report.sums.ct_ns, 16'500);
  EXPECT_EQ(report.sums.kt_ns, 49'500);
  EXPECT_EQ(report.sums.t_orch_ns, 146'000);
  EXPECT_EQ(report.sums.t_device_ns, 95'000);
  EXPECT_EQ(report.sums.kt_fw_ns, 11'100);
  EXPECT_EQ(report.sums.host_observed_ns, 154'000);
  EXPECT_EQ(report.entries_found, 5u);
  EXPECT_TRUE(report.guarded.empty());
  EXPECT_TRUE(has_note(report, "replay_tracer"));
}

TEST(MeasuredOverhead, SaysWhoCalledTheOperators) {
  ReplayFile file = worked_replay();
  const MeasuredReport cpp = measured(worked_database(), file, options(4500));
  file.through = ReplayThrough::kPython;
  const MeasuredReport python = measured(worked_database(), file, options(4500));
  EXPECT_EQ(cpp.through, ReplayThrough::kCpp);
  EXPECT_EQ(python.through, ReplayThrough::kPython);
  const auto words = [](const MeasuredReport& report) {
    for (const TrustNote& note : report.trust) {
      if (std::string_view(note.what) == "replay_through") return note.effect.substr(0, 36);
    }
    return std::string();
  };
  EXPECT_EQ(words(cpp), "the operators were called from C++: ");
  EXPECT_EQ(words(python), "the operators were called from Pytho");
}

TEST(MeasuredOverhead, WorkedExampleInCodeModeAndByInvocation) {
  MeasuredOptions code = options(4500);
  code.mode = HostOverheadMode::kCode;
  EXPECT_EQ(measured(worked_database(), worked_replay(), code).sums.t_orch_ns, 145'000);
  MeasuredOptions weighted = options(4500);
  weighted.base_weighting = BaseWeighting::kInvocation;
  EXPECT_EQ(measured(worked_database(), worked_replay(), weighted).base_ns, 5000);
}

TEST(MeasuredOverhead, FamiliesAddUpToTheWhole) {
  const MeasuredReport report = measured(worked_database(), worked_replay(), options(4500));
  ASSERT_EQ(report.families.size(), 2u);
  // Other: T_Py 8.5, base 7 x 6, floor 7 x 4.5. GEMM: T_Py 5.5, base 4 x 6, CT 16.5, floor 4 x 4.5.
  EXPECT_EQ(report.families[0].name, "Other");
  EXPECT_EQ(report.families[0].measured_t_orch_ns, 8'500 + 42'000 + 31'500);
  EXPECT_EQ(report.families[1].measured_t_orch_ns, 5'500 + 24'000 + 16'500 + 18'000);
  EXPECT_EQ(report.families[1].measured_kernels, 4u);
}

TEST(MatchKernel, TierZeroIsTheLaunchSignature) {
  KernelDbEntry target = entry("gemm", false, 1, 0, 0, 0, 0);
  target.shape = {{8, 4, 1}, {128, 1, 1}, 1024, 32};
  ReplayCandidate same = candidate("other", 1, 1, 10);
  same.grid = {8, 4, 1};
  same.block = {128, 1, 1};
  same.shared_memory_bytes = 1024;
  same.registers = 32;
  ReplayCandidate by_name = candidate("gemm", 1, 1, 500);
  by_name.grid = {9, 4, 1};
  const KernelMatch match = match_kernel(target, {by_name, same});
  EXPECT_EQ(match.tier, MatchTier::kSignature);
  EXPECT_EQ(match.candidate, 1u);
  // Inside the signature the same name wins over the more frequent one.
  ReplayCandidate exact = same;
  exact.name = "gemm";
  exact.count = 1;
  EXPECT_EQ(match_kernel(target, {same, exact}).candidate, 1u);
  // Other registers are another signature; registers not told are not compared.
  same.registers = 33;
  EXPECT_EQ(match_kernel(target, {same}).tier, MatchTier::kMostFrequent);
  same.registers = 0;
  EXPECT_EQ(match_kernel(target, {same}).tier, MatchTier::kSignature);
  same.shared_memory_bytes = 0;
  EXPECT_EQ(match_kernel(target, {same}).tier, MatchTier::kMostFrequent);
}

TEST(MatchKernel, AnUnknownGridIsNotASignature) {
  const KernelDbEntry target = entry("gemm", false, 1, 0, 0, 0, 0);
  EXPECT_EQ(match_kernel(target, {candidate("reduce", 1, 1)}).tier, MatchTier::kMostFrequent);
}

TEST(MatchKernel, NamesAreComparedCleanedThenByPartsThenByCount) {
  const KernelDbEntry target = entry("vectorized_elementwise_kernel", false, 1, 0, 0, 0, 0);
  const auto match = [&](std::vector<ReplayCandidate> c) { return match_kernel(target, c); };
  const KernelMatch exact =
      match({candidate("reduce", 1, 1, 900),
             candidate("void at::native::vectorized_elementwise_kernel<4>(int)", 1, 1, 5)});
  EXPECT_EQ(exact.tier, MatchTier::kExactName);
  EXPECT_EQ(exact.candidate, 1u);
  const KernelMatch part =
      match({candidate("reduce", 1, 1, 900), candidate("elementwise_kernel", 1, 1, 5)});
  EXPECT_EQ(part.tier, MatchTier::kSubstring);
  EXPECT_EQ(part.candidate, 1u);
  const KernelMatch longer = match({candidate("my_vectorized_elementwise_kernel_v2", 1, 1)});
  EXPECT_EQ(longer.tier, MatchTier::kSubstring);
  const KernelMatch frequent = match({candidate("reduce", 1, 1, 5), candidate("scan", 1, 1, 6)});
  EXPECT_EQ(frequent.tier, MatchTier::kMostFrequent);
  EXPECT_EQ(frequent.candidate, 1u);
  EXPECT_EQ(match({}).tier, MatchTier::kNone);
}

GuardInput guard(double launch_ns) {
  GuardInput input;
  input.floor_ns = 1000;
  input.launch_ns = launch_ns;
  input.duration_ns = 1e9;
  return input;
}

TEST(Contamination, SeveralKernelsOrAnotherVariantBeyondTwentyFloors) {
  GuardInput input = guard(20'001);
  EXPECT_EQ(contamination(input), "");
  input.candidates = 2;
  EXPECT_EQ(contamination(input), "several_kernels");
  input.launch_ns = 20'000;
  EXPECT_EQ(contamination(input), "");
  input = guard(20'001);
  input.variant_mismatch = true;
  EXPECT_EQ(contamination(input), "several_kernels");
}

TEST(Contamination, UnsteadyBeyondFiftyFloors) {
  GuardInput input = guard(50'001);
  input.launch_std_ns = 10'001;
  EXPECT_EQ(contamination(input), "unsteady");
  input.launch_std_ns = 10'000;
  EXPECT_EQ(contamination(input), "");
  input.launch_std_ns = 10'001;
  input.launch_ns = 50'000;
  EXPECT_EQ(contamination(input), "");
}

TEST(Contamination, BeyondAHundredFloorsAndThreeQuartersOfTheKernel) {
  GuardInput input = guard(100'001);
  input.duration_ns = 100'000;
  EXPECT_EQ(contamination(input), "beyond_duration");
  input.duration_ns = 133'335;  // 0.75 x 133,335 = 100,001.25
  EXPECT_EQ(contamination(input), "");
  input.launch_ns = 100'000;
  input.duration_ns = 0;
  EXPECT_EQ(contamination(input), "");
}

TEST(Contamination, SeldomMatchedBeyondTenFloors) {
  GuardInput input = guard(10'001);
  input.match_ratio = 0.79;
  EXPECT_EQ(contamination(input), "seldom_matched");
  input.match_ratio = 0.8;
  EXPECT_EQ(contamination(input), "");
  input = guard(10'000);
  input.match_ratio = 0.5;
  EXPECT_EQ(contamination(input), "");
}

// Base: median of 5, 7 and 90 us = 7 us. Z is rejected: launch 1 us (the floor), dispatch at most
// max(4 x 7, 10 x 1) = 28 us. The library kernel with the same times is not judged.
TEST(MeasuredOverhead, AContaminatedNativeReplayFallsBackToFloorAndBoundedDispatch) {
  const KernelDatabase db =
      database({entry("x", false, 1, 0, 1, 1, 1), entry("y", false, 1, 0, 1, 1, 1),
                entry("z", false, 1, 0, 1, 1, 1), entry("lib", true, 1, 0, 1, 1, 1)});
  const std::vector<ReplayCandidate> odd = {candidate("z", 90, 20.001),
                                            candidate("helper", 3, 1, 10)};
  const std::vector<ReplayCandidate> odd_library = {candidate("lib", 90, 20.001),
                                                    candidate("helper", 3, 1, 10)};
  const ReplayFile file =
      replay({replayed("x", {candidate("x", 5, 1)}), replayed("y", {candidate("y", 7, 1)}),
              replayed("z", odd), replayed("lib", odd_library)});
  MeasuredOptions code = options(1000);
  code.mode = HostOverheadMode::kCode;
  const MeasuredReport report = measured(db, file, code);
  EXPECT_EQ(report.base_ns, 7000);
  ASSERT_EQ(report.guarded, std::vector<size_t>{2});
  const MeasuredRow& z = report.rows[2];
  EXPECT_EQ(z.guard, "several_kernels");
  EXPECT_EQ(z.cost.t_launch_ns, 1000);
  EXPECT_EQ(z.cost.t_dispatch_ns, 28'000);
  EXPECT_EQ(z.replay_dispatch_ns, 90'000);
  EXPECT_EQ(z.replay_launch_ns, 20'001);
  EXPECT_EQ(report.rows[3].guard, "");
  EXPECT_EQ(report.rows[3].cost.t_launch_ns, 20'001);
  // Own dispatch of natives 5 + 7 + 28, base for the library kernel 7; CT 90 - 7.
  EXPECT_EQ(report.sums.ft_ns, 47'000);
  EXPECT_EQ(report.sums.ct_ns, 83'000);
  EXPECT_TRUE(has_note(report, "contaminated_replays"));
}

TEST(MeasuredOverhead, WithoutAReplayTheTraceAndTheFloorStandIn) {
  KernelDatabase db = database({entry("a", false, 3, 0, 9, 80, 1), entry("b", false, 1, 0, 5, 1, 1),
                                entry("c", false, 1, 0, 9, 80, 1)});
  ReplayEntry dynamic;
  dynamic.key = "c";
  dynamic.status = ReplayStatus::kSkippedDynamic;
  const MeasuredReport report =
      measured(db, replay({replayed("a", {candidate("a", 4, 2)}), dynamic, replayed("zz", {})}),
               options(1000));
  EXPECT_EQ(report.rows[0].cost.t_dispatch_ns, 4000);
  for (const size_t without : {1u, 2u}) {
    EXPECT_EQ(report.rows[without].tier, MatchTier::kNone);
    EXPECT_EQ(report.rows[without].cost.t_launch_ns, 1000);
  }
  EXPECT_EQ(report.rows[1].cost.t_dispatch_ns, 5000);
  EXPECT_EQ(report.rows[2].cost.t_dispatch_ns, 9000);
  EXPECT_EQ(report.entries_found, 2u);
  EXPECT_EQ(report.invocations_found, 4u);
  EXPECT_EQ(report.entries_unknown, 1u);
  EXPECT_TRUE(has_note(report, "replay_missing_keys"));
  EXPECT_TRUE(has_note(report, "replay_unknown_keys"));
  EXPECT_TRUE(has_note(report, "replay_not_run"));
}

TEST(MeasuredOverhead, AReplayOfAnotherModelIsRefusedBelowHalfOfTheInvocations) {
  const KernelDatabase db =
      database({entry("a", false, 5, 0, 1, 1, 1), entry("b", false, 5, 0, 1, 1, 1)});
  EXPECT_TRUE(
      measure_overhead(db, replay({replayed("a", {candidate("a", 4, 2)})}), {}, options(1000)));
  KernelDatabase more =
      database({entry("a", false, 5, 0, 1, 1, 1), entry("b", false, 6, 0, 1, 1, 1)});
  const auto refused =
      measure_overhead(more, replay({replayed("a", {candidate("a", 4, 2)})}), {}, options(1000));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("5 of 11 kernel invocations"), std::string::npos);
  EXPECT_EQ(refused.error().file, "replay.json");
}

TEST(MeasuredOverhead, OtherGpusAndTracersAreNotMixed) {
  ReplayFile file = worked_replay();
  file.gpu.name = "NVIDIA H100 80GB HBM3";
  auto refused = measure_overhead(worked_database(), file, {}, options(4500));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("measured on NVIDIA H100"), std::string::npos);
  MeasuredOptions cupti = options(4500);
  cupti.floor.tracer = CollectorTracer::kCupti;
  EXPECT_FALSE(measure_overhead(worked_database(), worked_replay(), {}, cupti));
  KernelDatabase nameless = worked_database();
  nameless.gpu = "";
  EXPECT_TRUE(has_note(measured(nameless, file, options(4500)), "replay_gpu_unchecked"));
}

}  // namespace
}  // namespace assay
