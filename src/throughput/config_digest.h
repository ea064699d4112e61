#pragma once

// Precomputed models (digests) of the configurations of a table: how they are made and checked, and
// answers that use them. Internal to the predictor.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "throughput/trained_process.h"

namespace assay {

// One digest for each wanted configuration in the rows, in row order. A digest that contradicts an
// exact answer is omitted, so its configuration is always answered exactly.
std::vector<ConfigDigest> make_digests(const Trained& trained, const std::vector<BenchRow>& rows,
                                       const FactBook& facts,
                                       const std::function<bool(const BenchRow&)>& wanted);

class DigestBook {
 public:
  // Adds the usable digests of `options`. rows: those that the process was trained on. All
  // arguments must outlive the book.
  void add(const Trained& process, const std::vector<BenchRow>& rows, const FactBook& facts,
           const PredictorOptions& options);
  // Answers in the order of the points: from the digest of the configuration, by framework for
  // configurations without rows, else from the process itself. sd is NaN if there is no answer.
  std::vector<GpAnswer> answers(const Trained& process,
                                const std::vector<KernelPoint>& points) const;

 private:
  struct Shelf {
    const std::vector<BenchRow>* rows = nullptr;
    const FactBook* facts = nullptr;
    // By id of the configuration among the names of the process.
    std::map<uint32_t, const KeptDigest*> digests;
    std::shared_ptr<const FrameworkSummary> frameworks;
  };
  std::map<const Trained*, Shelf> shelves_;
  // Each fills in the answers it has and leaves the indices of the other points in `rest`.
  static void by_config(const Shelf& shelf, const Trained& process,
                        const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                        std::vector<GpAnswer>& out);
  static void by_framework(const Shelf& shelf, const Trained& process,
                           const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                           std::vector<GpAnswer>& out);
};

}  // namespace assay
