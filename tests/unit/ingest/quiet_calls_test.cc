// What `assay record` leaves out tells nothing that a graph of waits is made of.

#include "collect/record/quiet_calls.h"

#include <gtest/gtest.h>

#include "trace/api_names.h"

namespace assay {
namespace {

TEST(QuietCalls, HaveNoRole) {
  for (const std::string_view name : record::kQuietRuntimeCalls) {
    EXPECT_EQ(classify_api(name), ApiRole::kOther) << name;
  }
  for (const std::string_view name : record::kQuietDriverCalls) {
    // A question about the primary context is taken for loading it, for which it is too short.
    const bool load = name == "cuDevicePrimaryCtxGetState";
    EXPECT_EQ(classify_api(name), load ? ApiRole::kLoad : ApiRole::kOther) << name;
  }
}

}  // namespace
}  // namespace assay
