#include "roof/pointwise_launch.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

std::string kernel(const std::string& vector, const std::string& function,
                   const std::string& tensors) {
  return "void at::native::vectorized_elementwise_kernel<" + vector + ", " + function + ", " +
         tensors + " >(int, " + function + ", " + tensors + ")";
}

// As the V100 trace of 2021 has it: an addition of two of FP32, 256 blocks of 64 threads that take
// 4 elements each: 65,281 to 65,536 elements, three times 4 bytes each.
TEST(PointwiseLaunch, TheGridOfAnOldAdditionTellsItsElements) {
  const WorkAnswer answer = pointwise_launch_work(
      kernel("4", "at::native::AddFunctor<float>", "at::detail::Array<char*, 3>"), {256, 64});
  ASSERT_EQ(answer.known, WorkKnown::kBounds);
  EXPECT_EQ(answer.work.read_bytes, 65'281 * 8);
  EXPECT_EQ(answer.work.write_bytes, 65'281 * 4);
  EXPECT_EQ(answer.most.read_bytes, 65'536 * 8);
  EXPECT_EQ(answer.most.write_bytes, 65'536 * 4);
  EXPECT_EQ(answer.most.flop, 0);
}

// A lambda's name leaves its result out: a byte to eight.
TEST(PointwiseLaunch, TheResultOfALambdaIsBracketed) {
  const WorkAnswer answer = pointwise_launch_work(
      kernel("4",
             "at::native::threshold_kernel_impl<float>(at::TensorIterator&, float, "
             "float)::{lambda(float, float)#1}",
             "at::detail::Array<char*, 3>"),
      {12'544, 64});
  ASSERT_EQ(answer.known, WorkKnown::kBounds);
  EXPECT_EQ(answer.work.read_bytes, (12'543.0 * 256 + 1) * 8);
  EXPECT_EQ(answer.work.write_bytes, 12'543.0 * 256 + 1);
  EXPECT_EQ(answer.most.read_bytes, 12'544.0 * 256 * 8);
  EXPECT_EQ(answer.most.write_bytes, 12'544.0 * 256 * 8);
}

// The operator tells it: what clamps gives what it takes, what compares does not.
TEST(PointwiseLaunch, TheOperatorTellsTheResultOfItsLambda) {
  const std::string clamp = kernel("4", "at::native::clamp_min_kernel(int)::{lambda(float)#1}",
                                   "at::detail::Array<char*, 2>");
  const WorkAnswer told = pointwise_launch_work(clamp, {100, 128}, "aten::clamp_min_");
  EXPECT_EQ(told.work.write_bytes, (99 * 512 + 1) * 4);
  EXPECT_EQ(told.most.write_bytes, 100 * 512 * 4);
  const WorkAnswer compared = pointwise_launch_work(clamp, {100, 128}, "aten::gt");
  EXPECT_EQ(compared.work.write_bytes, 99 * 512 + 1);
  EXPECT_EQ(compared.most.write_bytes, 100 * 512 * 8);
}

// A thread of a newer version takes 4, 8 or 16 elements, and never less than its vector.
TEST(PointwiseLaunch, NewerVersionsTakeMoreEach) {
  const std::string array = "std::array<char*, 3ul>";
  const std::string add = "at::native::CUDAFunctor_add<c10::BFloat16>";
  const WorkAnswer eight = pointwise_launch_work(kernel("8", add, array), {11, 256});
  ASSERT_EQ(eight.known, WorkKnown::kBounds);
  EXPECT_EQ(eight.work.bytes(), (10 * 256 * 8 + 1) * 6);
  EXPECT_EQ(eight.most.bytes(), 11 * 256 * 16 * 6);
  const WorkAnswer four = pointwise_launch_work(kernel("4", add, array), {11, 128});
  EXPECT_EQ(four.work.bytes(), (10 * 128 * 4 + 1) * 6);
  EXPECT_EQ(four.most.bytes(), 11 * 128 * 16 * 6);
  // Two bytes of the older array: versions between are not told apart.
  const WorkAnswer old =
      pointwise_launch_work(kernel("4", add, "at::detail::Array<char*, 3>"), {11, 128});
  EXPECT_EQ(old.most.bytes(), 11 * 128 * 16 * 6);
}

TEST(PointwiseLaunch, TypesOfObjectsAreTheirOwn) {
  const std::string array = "at::detail::Array<char*, 2>";
  const WorkAnswer compare = pointwise_launch_work(
      kernel("4",
             "at::native::AUnaryFunctor<int, int, bool, at::native::(anonymous "
             "namespace)::CompareEqFunctor<int> >",
             array),
      {1, 128});
  ASSERT_EQ(compare.known, WorkKnown::kBounds);
  EXPECT_EQ(compare.work.read_bytes, 4);  // one element of the last block at least
  EXPECT_EQ(compare.work.write_bytes, 1);
  EXPECT_EQ(compare.most.read_bytes, 128 * 16 * 4);
  const WorkAnswer fill = pointwise_launch_work(
      kernel("4", "at::native::FillFunctor<float>", "at::detail::Array<char*, 1>"), {2, 128});
  EXPECT_EQ(fill.work.read_bytes, 0);
  EXPECT_EQ(fill.work.write_bytes, 513 * 4);
  EXPECT_EQ(fill.most.write_bytes, 1024 * 4);
}

TEST(PointwiseLaunch, WhatIsNotReadIsNotTold) {
  const std::string add = "at::native::CUDAFunctor_add<float>";
  const std::string array = "at::detail::Array<char*, 3>";
  const auto known = [](const std::string& name, LaunchSize size) {
    return pointwise_launch_work(name, size).known;
  };
  EXPECT_EQ(known(kernel("4", add, array), {0, 128}), WorkKnown::kNoModel);
  EXPECT_EQ(known(kernel("4", add, array), {9, 0}), WorkKnown::kNoModel);
  // The number of tensors is not that of the function.
  EXPECT_EQ(known(kernel("4", add, "at::detail::Array<char*, 2>"), {9, 128}), WorkKnown::kNoModel);
  EXPECT_EQ(known(kernel("4", "mine::OtherFunctor<float>", array), {9, 128}), WorkKnown::kNoModel);
  EXPECT_EQ(known(kernel("4", "at::native::CUDAFunctor_add<strange>", array), {9, 128}),
            WorkKnown::kNoModel);
  EXPECT_EQ(known(kernel("32", add, array), {9, 128}), WorkKnown::kNoModel);
  // A fourth argument: sizes of a launch that is not known here.
  EXPECT_EQ(known(kernel("4", add, array + ", true"), {9, 128}), WorkKnown::kNoModel);
  EXPECT_EQ(known("void at::native::vectorized_elementwise_kernel<4, at::native::CUDA", {9, 128}),
            WorkKnown::kNoModel);
  EXPECT_EQ(known("elementwise", {9, 128}), WorkKnown::kNoModel);
}

}  // namespace
}  // namespace assay
