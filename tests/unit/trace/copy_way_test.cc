#include "trace/copy_way.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Names as Kineto, CUPTI's reports, HIP, HSA and MTIA write them.
TEST(CopyWay, OfEverySpelling) {
  for (const char* name : {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pageable -> Device)",
                           "Memcpy HtoA (Host -> Array)", "CopyHostToDevice",
                           "MEMORY_COPY_HOST_TO_DEVICE", "[CUDA memcpy Host-to-Device]"}) {
    EXPECT_EQ(copy_way(name), CopyWay::kToDevice) << name;
  }
  for (const char* name : {"Memcpy DtoH (Device -> Pageable)", "CopyDeviceToHost",
                           "MEMORY_COPY_DEVICE_TO_HOST", "[CUDA memcpy Device-to-Host]"}) {
    EXPECT_EQ(copy_way(name), CopyWay::kToHost) << name;
  }
  for (const char* name :
       {"Memcpy DtoD (Device -> Device)", "CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE"}) {
    EXPECT_EQ(copy_way(name), CopyWay::kOnDevice) << name;
  }
  EXPECT_EQ(copy_way("Memcpy PtoP (Device -> Device)"), CopyWay::kBetweenDevices);
  for (const char* name : {"", "Memcpy", "dma_request", "Memset (Device)", "Memcpy HtoH"}) {
    EXPECT_EQ(copy_way(name), CopyWay::kUnknown) << name;
  }
}

TEST(CopyWay, PinnedOnEitherSide) {
  EXPECT_TRUE(is_pinned_copy("Memcpy HtoD (Pinned -> Device)"));
  EXPECT_TRUE(is_pinned_copy("Memcpy DtoH (Device -> Pinned)"));
  EXPECT_FALSE(is_pinned_copy("Memcpy HtoD (Pageable -> Device)"));
  EXPECT_FALSE(is_pinned_copy("CopyHostToDevice"));
}

TEST(CopyWay, PageableOnlyWhereTheNameSaysSo) {
  EXPECT_TRUE(is_pageable_copy("Memcpy HtoD (Pageable -> Device)"));
  EXPECT_TRUE(is_pageable_copy("Memcpy DtoH (Device -> Pageable)"));
  EXPECT_FALSE(is_pageable_copy("Memcpy DtoH (Device -> Pinned)"));
  EXPECT_FALSE(is_pageable_copy("CopyDeviceToHost"));
}

}  // namespace
}  // namespace assay
