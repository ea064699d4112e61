#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trace/iterations.h"

namespace assay::testing {

struct ExpectedWindow {
  std::string name;
  int64_t start_ns;
  int64_t end_ns;
};

inline void expect_windows(const Windows& windows, WindowSource source,
                           const std::vector<ExpectedWindow>& expected) {
  EXPECT_EQ(window_source_name(windows.source), window_source_name(source));
  ASSERT_EQ(windows.windows.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(windows.windows[i].name, expected[i].name);
    EXPECT_EQ(windows.windows[i].start_ns, expected[i].start_ns) << expected[i].name;
    EXPECT_EQ(windows.windows[i].end_ns, expected[i].end_ns) << expected[i].name;
  }
}

}  // namespace assay::testing
