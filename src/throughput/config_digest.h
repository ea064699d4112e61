#pragma once

// Digests of the configurations of a table: over which lengths and batches, how they are checked,
// and answers that use them where there are. Inside of the predictor.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "throughput/trained_process.h"

namespace assay {

// One digest for each wanted configuration. A digest that contradicts an exact answer is left out;
// such configurations are always answered exactly.
std::vector<ConfigDigest> make_digests(const Trained& trained, const std::vector<BenchRow>& rows,
                                       const FactBook& facts,
                                       const std::function<bool(const BenchRow&)>& wanted);

class DigestBook {
 public:
  // rows: those that the process was trained on. All must outlive the book.
  void add(const Trained& process, const std::vector<BenchRow>& rows, const FactBook& facts,
           const PredictorOptions& options);
  // From digests where they reach, by framework for configurations without rows, from the process
  // itself for other points. sd is NaN without an answer.
  std::vector<GpAnswer> answers(const Trained& process,
                                const std::vector<KernelPoint>& points) const;

 private:
  struct Shelf {
    const std::vector<BenchRow>* rows = nullptr;
    const FactBook* facts = nullptr;
    // By the number that a configuration has among the process's names.
    std::map<uint32_t, const KeptDigest*> digests;
    std::shared_ptr<const FrameworkSummary> frameworks;
  };
  std::map<const Trained*, Shelf> shelves_;
  // Each takes those answers out of `rest` that it has.
  static void by_config(const Shelf& shelf, const Trained& process,
                        const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                        std::vector<GpAnswer>& out);
  static void by_framework(const Shelf& shelf, const Trained& process,
                           const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                           std::vector<GpAnswer>& out);
};

}  // namespace assay
