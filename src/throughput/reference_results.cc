#include "throughput/reference_results.h"

#include "throughput/dataset.h"
#include "throughput/splits.h"

namespace assay {
namespace {

// XOR of fmix64(fnv1a64(row_name)) over all rows.
constexpr uint64_t kFingerprint = 0xcb52fa516e48d59bULL;
constexpr size_t kRows = 4715;

constexpr ReferenceError kReference[] = {
    {"S1", "ala-per-config", 0.0595, 0.3152},
    {"S1", "ala", 0.0595, 0.3152},
    {"S1", "linear", 0.1433, 3.3769},
    {"S1", "xgboost", 0.0443, 0.2604},
    {"S1", "forest", 0.0735, 0.8059},
    {"S1", "boosting", 0.0449, 0.2605},
    {"S1", "linear-pooled", 2.5454, 42.062},
    {"S1", "xgboost-pooled", 0.2439, 3.0868},
    {"S1", "forest-pooled", 0.0333, 0.2268},
    {"S1", "boosting-pooled", 1.1087, 14.7598},
    {"S1", "ala-pooled", 0.573, 6.002},
    {"S1", "ala-pooled-log", 0.0882, 3.0496},
    {"S1", "assay", 0.0093, 0.0563},
    {"S2", "ala-per-config", 0.1003, 3.7027},
    {"S2", "ala", 0.1003, 3.7027},
    {"S2", "linear", 0.1582, 3.5919},
    {"S2", "xgboost", 0.0341, 0.2691},
    {"S2", "forest", 0.0672, 0.9388},
    {"S2", "boosting", 0.0362, 0.2657},
    {"S2", "linear-pooled", 2.4625, 43.341},
    {"S2", "xgboost-pooled", 0.2645, 2.8048},
    {"S2", "forest-pooled", 0.031, 0.2138},
    {"S2", "boosting-pooled", 1.0629, 14.688},
    {"S2", "ala-pooled", 0.1106, 5.8783},
    {"S2", "ala-pooled-log", 0.1238, 6.3395},
    {"S2", "assay", 0.0083, 0.0541},
    {"S3", "ala-per-config", 0.0504, 0.2422},
    {"S3", "ala", 0.0504, 0.2422},
    {"S3", "linear", 0.4441, 3.1002},
    {"S3", "xgboost", 0.2371, 0.4077},
    {"S3", "forest", 0.2327, 0.4198},
    {"S3", "boosting", 0.2351, 0.4077},
    {"S3", "linear-pooled", 2.3915, 83.2629},
    {"S3", "xgboost-pooled", 0.3434, 1.3317},
    {"S3", "forest-pooled", 0.2317, 0.399},
    {"S3", "boosting-pooled", 0.5486, 5.627},
    {"S3", "ala-pooled", 0.0504, 0.2422},
    {"S3", "ala-pooled-log", 0.0493, 0.2443},
    {"S3", "assay", 0.0326, 0.2098},
    {"S4", "ala-per-config", 0.0927, 0.4971},
    {"S4", "ala", 0.0927, 0.4971},
    {"S4", "linear", 0.275, 4.8928},
    {"S4", "xgboost", 0.0907, 0.5069},
    {"S4", "forest", 0.1464, 0.9239},
    {"S4", "boosting", 0.0895, 0.5083},
    {"S4", "linear-pooled", 2.7818, 91.2215},
    {"S4", "xgboost-pooled", 0.2869, 1.4174},
    {"S4", "forest-pooled", 0.0945, 0.5217},
    {"S4", "boosting-pooled", 1.304, 13.8203},
    {"S4", "ala-pooled", 0.2156, 0.9501},
    {"S4", "ala-pooled-log", 0.1242, 0.6265},
    {"S4", "assay", 0.035, 0.1794},
    {"S5", "linear-pooled", 2.5169, 44.9702},
    {"S5", "xgboost-pooled", 0.3617, 3.82},
    {"S5", "forest-pooled", 0.0838, 1.0853},
    {"S5", "boosting-pooled", 1.179, 16.9118},
    {"S5", "ala-pooled", 0.7138, 8.022},
    {"S5", "ala-pooled-log", 0.1856, 4.3802},
    {"S5", "ala", 0.1856, 4.3802},
    {"S5", "assay", 0.0405, 0.1763},
    {"S6", "linear-pooled", 95.2507, 2.1e+09},
    {"S6", "xgboost-pooled", 0.5021, 4.9852},
    {"S6", "forest-pooled", 0.1443, 3.5666},
    {"S6", "boosting-pooled", 1.7356, 15.5996},
    {"S6", "ala-pooled", 0.7257, 6.4621},
    {"S6", "ala-pooled-log", 0.2443, 7.0187},
    {"S6", "ala", 0.2443, 7.0187},
    {"S6", "assay", 0.0627, 0.2799},
    {"S7", "linear-pooled", 3.0752, 54.2758},
    {"S7", "xgboost-pooled", 0.5896, 4.4895},
    {"S7", "forest-pooled", 0.507, 2.5401},
    {"S7", "boosting-pooled", 0.9666, 13.9297},
    {"S7", "ala-pooled", 0.7192, 6.1838},
    {"S7", "ala-pooled-log", 0.5541, 5.7769},
    {"S7", "ala", 0.5541, 5.7769},
    {"S7", "assay", 0.4614, 2.6585},
};

}  // namespace

bool is_llm_inference_bench(const ThroughputData& data) {
  if (data.rows.size() != kRows) return false;
  uint64_t fingerprint = 0;
  for (const BenchRow& row : data.rows) fingerprint ^= fmix64(fnv1a64(row_name(row)));
  return fingerprint == kFingerprint;
}

std::optional<ReferenceError> reference_error(std::string_view split, std::string_view method) {
  for (const ReferenceError& error : kReference) {
    if (error.split == split && error.method == method) return error;
  }
  return std::nullopt;
}

}  // namespace assay
