#include "throughput/gp/framework_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/stats.h"
#include "support/random.h"
#include "throughput/gp/gp.h"
#include "throughput/gp/kernel_products.h"

namespace assay {
namespace {

using Random = std::mt19937_64;

// Names by number; the features of hardware and model follow from their names.
struct Run {
  uint32_t hardware = 0;
  uint32_t framework = 0;
  uint32_t model = 0;
  double devices = 1;
  double length = 0;
  double batch = 0;
};

KernelPoint point_of(const Run& run) {
  const auto at = [](KernelDim dim) { return static_cast<size_t>(dim); };
  const auto in = [](KernelGroup group) { return static_cast<size_t>(group); };
  KernelPoint point;
  point.in_len = point.out_len = run.length;
  point.x[at(KernelDim::kBatch)] = run.batch;
  point.x[at(KernelDim::kDevices)] = std::log2(run.devices);
  point.x[at(KernelDim::kActive)] = 3 + 0.7 * run.model;
  point.x[at(KernelDim::kKv)] = 1 + 0.3 * run.model * run.model;
  point.x[at(KernelDim::kBandwidth)] = 1 + 0.4 * run.hardware;
  point.x[at(KernelDim::kFlops)] = 8 + 0.2 * run.hardware;
  point.x[at(KernelDim::kOverflow)] =
      std::max(0.0, run.batch + run.length + 0.5 * run.model - 4 - std::log2(run.devices));
  point.share[0] = 1 / (1 + std::exp2(run.batch - 2 - 0.2 * run.hardware));
  point.share[1] = 1 - point.share[0];
  const auto devices = static_cast<uint32_t>(run.devices);
  point.id[in(KernelGroup::kHardware)] = run.hardware;
  point.id[in(KernelGroup::kFramework)] = run.framework;
  point.id[in(KernelGroup::kModel)] = run.model;
  point.id[in(KernelGroup::kHardwareFramework)] = run.hardware * 100 + run.framework;
  point.id[in(KernelGroup::kModelFramework)] = run.model * 100 + run.framework;
  point.id[in(KernelGroup::kConfig)] =
      ((run.hardware * 100 + run.framework) * 100 + run.model) * 100 + devices;
  return point;
}

struct FrameworkData {
  std::vector<KernelPoint> rows;
  std::vector<double> y;
};

// Frameworks 0 (most rows) to 2, hardware 0 to 3, models 0 to 4, one or four devices; some
// configurations were left out.
FrameworkData some_data(Random& random, double rows_share) {
  FrameworkData data;
  for (uint32_t config = 0; config < 120; ++config) {
    Run run{config % 4, (config / 4) % 3, (config / 12) % 5, config < 60 ? 1.0 : 4.0, 0, 0};
    if (unit_of(random) < 0.2) continue;
    for (int length = -2; length <= 2; ++length) {
      for (int batch = -3; batch <= 4; ++batch) {
        if (unit_of(random) > (run.framework == 0 ? 1 : 0.2) * rows_share) continue;
        run.length = length;
        run.batch = batch;
        data.rows.push_back(point_of(run));
        data.y.push_back(std::sin(0.3 * length + 0.2 * batch + run.model) + 0.1 * run.hardware +
                         0.02 * unit_of(random));
      }
    }
  }
  return data;
}

// Configurations that have no row: three devices, and now and then a hardware, a framework or a
// model that nobody measured.
std::vector<KernelPoint> questions(Random& random, size_t configs, size_t points_each) {
  std::vector<KernelPoint> asked;
  for (size_t c = 0; c < configs; ++c) {
    const auto pick = [&random](uint32_t known) {
      return unit_of(random) < 0.1 ? known + 2 : static_cast<uint32_t>(random() % known);
    };
    Run run{pick(4), unit_of(random) < 0.7 ? 0 : pick(3), pick(5), 3, 0, 0};
    for (size_t k = 0; k < points_each; ++k) {
      run.length = 6 * unit_of(random) - 3;
      run.batch = 9 * unit_of(random) - 4;
      asked.push_back(point_of(run));
    }
  }
  return asked;
}

// Where the fast answers lie among the exact ones: by how much means differ at most, and by which
// shares standard deviations are smaller and larger.
struct Apart {
  double mean = 0;
  double narrower = 0;
  double wider = 0;
};

Apart compare(const FrameworkData& data, const std::vector<KernelPoint>& asked) {
  const KernelSpec& spec = physics_kernel();
  const auto gp = GaussianProcess::fit(spec, spec.defaults, data.rows, data.y);
  const auto summary = summarise_frameworks(spec, spec.defaults, data.rows, gp->weights());
  const auto fast =
      predict_by_framework(spec, spec.defaults, data.rows, median(data.y), *summary, asked);
  const std::vector<GpAnswer> exact = gp->predict_exactly(asked);
  Apart apart;
  for (size_t i = 0; i < asked.size(); ++i) {
    apart.mean = std::max(apart.mean, std::abs((*fast)[i].mean - exact[i].mean));
    apart.narrower = std::max(apart.narrower, 1 - (*fast)[i].sd / exact[i].sd);
    apart.wider = std::max(apart.wider, (*fast)[i].sd / exact[i].sd - 1);
  }
  return apart;
}

TEST(KernelProducts, AreSumsOfWeightsTimesCovariances) {
  Random random(3);
  for (const KernelSpec* spec : {&physics_kernel(), &plain_kernel()}) {
    FrameworkData data = some_data(random, 0.1);
    data.rows.push_back(data.rows[5]);  // a row that repeats
    std::vector<KernelPoint> asked = questions(random, 20, 3);
    asked.insert(asked.end(), data.rows.begin(), data.rows.begin() + 20);
    constexpr size_t kCount = 3;
    std::vector<double> weights(kCount * data.rows.size());
    for (double& w : weights) w = 2 * unit_of(random) - 1;
    std::vector<double> got(kCount * asked.size());
    KernelProducts(*spec, spec->defaults, data.rows, asked)
        .apply(weights.data(), kCount, got.data());
    std::vector<double> k(data.rows.size() * asked.size());
    kernel_matrix(*spec, spec->defaults, data.rows, asked, k.data());
    for (size_t p = 0; p < asked.size(); ++p) {
      for (size_t w = 0; w < kCount; ++w) {
        double sum = 0;
        for (size_t i = 0; i < data.rows.size(); ++i)
          sum += weights[w * data.rows.size() + i] * k[p * data.rows.size() + i];
        EXPECT_NEAR(got[p * kCount + w], sum, 1e-10) << p << " " << w;
      }
    }
  }
}

TEST(ByFramework, FewPointsAreAnsweredAsFromAllRows) {
  Random random(11);
  for (int round = 0; round < 4; ++round) {
    const FrameworkData data = some_data(random, 0.35);
    const Apart apart = compare(data, questions(random, 40, 3));
    EXPECT_LT(apart.mean, 1e-9);
    EXPECT_LT(apart.narrower, 1e-4);
    EXPECT_LT(apart.wider, 1e-4);
  }
}

TEST(ByFramework, ManyPointsKeepTheTolerance) {
  Random random(12);
  const FrameworkData data = some_data(random, 1);
  ASSERT_GT(data.rows.size(), 1300U);  // so many of one framework that its points are reduced
  for (const size_t points_each : {1, 60}) {
    const Apart apart = compare(data, questions(random, 1200 / points_each, points_each));
    EXPECT_LT(apart.mean, 1e-9);
    EXPECT_LT(apart.narrower, 1e-4);
    EXPECT_LT(apart.wider, kReducedTolerance);
  }
}

TEST(ByFramework, SamePointsSameBytes) {
  Random random(13);
  const FrameworkData data = some_data(random, 1);
  const KernelSpec& spec = physics_kernel();
  const auto gp = GaussianProcess::fit(spec, spec.defaults, data.rows, data.y);
  const auto summary = summarise_frameworks(spec, spec.defaults, data.rows, gp->weights());
  const std::vector<KernelPoint> asked = questions(random, 100, 10);
  const auto ask = [&] {
    return predict_by_framework(spec, spec.defaults, data.rows, 0, *summary, asked);
  };
  const auto once = ask();
  const auto again = ask();
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ((*once)[i].mean, (*again)[i].mean);
    EXPECT_EQ((*once)[i].sd, (*again)[i].sd);
  }
}

TEST(ByFramework, AKernelThatJoinsFrameworksByHardwareDoesNotSplit) {
  EXPECT_TRUE(splits_by_framework(physics_kernel()));
  EXPECT_FALSE(splits_by_framework(plain_kernel()));
  EXPECT_FALSE(summarise_frameworks(plain_kernel(), plain_kernel().defaults, {}, {}));
}

}  // namespace
}  // namespace assay
