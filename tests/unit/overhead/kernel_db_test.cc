// The kernel database of small traces, worked by hand.

#include "overhead/kernel_db.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/trace_maker.h"

namespace assay {
namespace {

using nlohmann::json;
using testing::TraceMaker;

// Two adds with the same inputs and one with others; every operator is 10 us before its call.
Trace adds() {
  TraceMaker maker;
  maker.op(1, "outer", 0, 900'000);
  const auto launch = [&](int64_t at, const char* name, int64_t dispatch, int64_t to_start,
                          int64_t dur, uint32_t correlation) {
    maker.op(1, "aten::add", at, 50'000)
        .call(1, "cudaLaunchKernel", at + dispatch, 2'000, correlation)
        .kernel(0, 7, name, at + dispatch + to_start, dur, correlation);
  };
  launch(100'000, "void at::native::vectorized_elementwise_kernel<4>(int)", 10'000, 5'000, 3'000,
         1);
  launch(200'000, "void at::native::vectorized_elementwise_kernel<4>(int)", 14'000, 6'000, 5'000,
         2);
  launch(300'000, "void at::native::vectorized_elementwise_kernel<4>(int)", 20'000, 7'000, 4'000,
         3);
  Trace trace = maker.build();
  trace.source = "adds.json";
  trace.devices.push_back({.id = 0, .name = "NVIDIA H200"});
  const auto told = [&](const char* text) { return trace.strings.intern(text); };
  const StringId small = told("[[4,8],[4,8],[]]");
  const StringId large = told("[[64,8],[64,8],[]]");
  for (size_t nth = 0; nth < 3; ++nth) {
    trace.op_inputs.push_back({.op = testing::op_id(trace, "aten::add", nth),
                               .dims = nth < 2 ? small : large,
                               .types = told(R"(["float","float","Scalar"])"),
                               .strides = told("[[8,1],[8,1],[]]"),
                               .concrete = told(R"(["","","1"])")});
  }
  return trace;
}

KernelDatabase database_of(const Trace& trace) {
  const Links links = link_trace(trace);
  const Windows windows = {WindowSource::kWholeTrace, {{"whole trace", -1, 1'000'000'000}}};
  HostOverheadOptions options;
  options.floor = LaunchFloor{.source = FloorSource::kGiven, .floor_ns = 4500, .text = "given"};
  auto report = analyze_overhead(trace, links, windows, options);
  EXPECT_TRUE(report);
  return build_kernel_database(trace, *report, KernelBook::built_in()->families(), false);
}

TEST(KernelDatabase, OneEntryPerNameShapeAndInputs) {
  const KernelDatabase db = database_of(adds());
  EXPECT_EQ(db.gpu, "NVIDIA H200");
  EXPECT_EQ(db.invocations, 3u);
  EXPECT_EQ(db.launches, 3u);
  ASSERT_EQ(db.entries.size(), 2u);
  const KernelDbEntry& first = db.entries[0];
  EXPECT_EQ(first.name, "vectorized_elementwise_kernel");
  EXPECT_EQ(first.key, "vectorized_elementwise_kernel|0,0,0|0,0,0|0|[[4,8],[4,8],[]]");
  EXPECT_EQ(first.op, "aten::add");
  EXPECT_EQ(first.op_variants, 1u);
  EXPECT_EQ(first.frequency, 2u);
  EXPECT_TRUE(first.single_launch);
  EXPECT_FALSE(first.library);
  EXPECT_EQ(first.family, "Elem. (vector)");
  EXPECT_EQ(db.entries[1].frequency, 1u);
}

// Dispatch 10 and 14 us: mean 12, std sqrt(8) = 2.828; T_Py from the outer operator 100 and 200 us.
TEST(KernelDatabase, SpreadsAreOverItsInvocations) {
  const KernelDatabase db = database_of(adds());
  const KernelDbEntry& first = db.entries.at(0);
  EXPECT_EQ(first.t_dispatch.n, 2u);
  EXPECT_EQ(first.t_dispatch.mean_ns, 12'000);
  EXPECT_NEAR(first.t_dispatch.std_ns, 2828.427, 1e-3);
  EXPECT_EQ(first.t_dispatch.min_ns, 10'000);
  EXPECT_EQ(first.t_dispatch.max_ns, 14'000);
  EXPECT_EQ(first.t_py.mean_ns, 150'000);
  EXPECT_EQ(first.t_launch.mean_ns, 5'500);
  EXPECT_EQ(first.duration.mean_ns, 4'000);
  EXPECT_EQ(db.entries.at(1).t_dispatch.std_ns, 0);
  const KernelCost cost = trace_cost(first);
  EXPECT_EQ(cost.invocations, 2u);
  EXPECT_EQ(cost.t_py_ns, 150'000);
  EXPECT_EQ(cost.t_dispatch_ns, 12'000);
  EXPECT_EQ(cost.t_launch_ns, 5'500);
  EXPECT_EQ(cost.dur_ns, 4'000);
}

TEST(KernelDatabase, FileHasEveryFieldAndTheSameBytesEachTime) {
  const KernelDatabase db = database_of(adds());
  const std::string text = kernel_database_json(db, "1.2.3");
  EXPECT_EQ(text, kernel_database_json(database_of(adds()), "1.2.3"));
  const json document = json::parse(text);
  EXPECT_EQ(document["kind"], "assay-kernel-db");
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["gpu"]["name"], "NVIDIA H200");
  EXPECT_EQ(document["tracer"], "kineto");
  ASSERT_EQ(document["entries"].size(), 2u);
  const json& entry = document["entries"][0];
  EXPECT_EQ(entry["input_dims"], json::parse("[[4,8],[4,8],[]]"));
  EXPECT_EQ(entry["input_types"], json::parse(R"(["float","float","Scalar"])"));
  EXPECT_EQ(entry["input_strides"], json::parse("[[8,1],[8,1],[]]"));
  EXPECT_EQ(entry["concrete_inputs"], json::parse(R"(["","","1"])"));
  EXPECT_EQ(entry["i_lib"], 0);
  EXPECT_EQ(entry["t_dispatch"]["mean_ns"], 12000.0);
}

TEST(KernelDatabase, InvalidUtf8NamesAndInvalidJsonInputsAreSafe) {
  KernelDatabase db;
  KernelDbEntry entry;
  entry.raw_name = "k\xff";
  entry.input_dims = "[[4,";
  db.entries.push_back(entry);
  const json document = json::parse(kernel_database_json(db, "1"));
  EXPECT_TRUE(document["entries"][0]["input_dims"].is_null());
  EXPECT_EQ(document["entries"][0]["raw_name"], "k\xEF\xBF\xBD");
}

}  // namespace
}  // namespace assay
