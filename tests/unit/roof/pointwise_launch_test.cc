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
TEST(PointwiseLaunch, GridOfAnOldAdditionShowsItsElements) {
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
TEST(PointwiseLaunch, OperatorShowsTheResultOfItsLambda) {
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

TEST(PointwiseLaunch, UnreadableNamesAreUnknown) {
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

// The one type of a kernel's tensors; of a lambda's result only an operator tells.
TEST(PointwiseLaunch, NameShowsTheTypeOfAll) {
  const std::string three = "at::detail::Array<char*, 3>";
  const std::string lambda = "at::native::threshold_kernel_impl(int)::{lambda(float, float)#1}";
  EXPECT_EQ(pointwise_type(kernel("4", "at::native::AddFunctor<long>", three), "aten::add_"),
            ElementType::kInt64);
  EXPECT_EQ(pointwise_type(kernel("4", lambda, three), "aten::threshold_"), ElementType::kFloat32);
  EXPECT_EQ(pointwise_type(kernel("4", lambda, three), "aten::gt"), ElementType::kUntold);
  const std::string mixed = "at::native::BinaryFunctor<float, float, bool, X>";
  EXPECT_EQ(pointwise_type(kernel("4", mixed, three), "aten::add"), ElementType::kUntold);
  EXPECT_EQ(pointwise_type("add<float>", "aten::add"), ElementType::kUntold);
}

std::string list_kernel(const std::string& lists, const std::string& function) {
  const std::string space = "at::native::(anonymous namespace)::";
  return "void " + space + "multi_tensor_apply_kernel<" + space + "TensorListMetadata<" + lists +
         ">, " + function + ", std::plus<float>, float>(" + space + "TensorListMetadata<" + lists +
         ">, " + function + ", std::plus<float>, float)";
}
constexpr const char* kAddLists =
    "at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>";

// 500 chunks of two lists, of at most 448 tensors: 52 full chunks at least, and an element of each
// tensor. Two lists are read (or one, twice) and one is written.
TEST(ListLaunch, ChunksShowElements) {
  const WorkAnswer answer = list_launch_work(list_kernel("2", kAddLists), {500, 512});
  ASSERT_EQ(answer.known, WorkKnown::kBounds);
  const double fewest = 52 * 65'536 + 448;
  EXPECT_EQ(answer.work.read_bytes, fewest * 4);
  EXPECT_EQ(answer.work.write_bytes, fewest * 4);
  EXPECT_EQ(answer.most.read_bytes, 500.0 * 65'536 * 8);
  EXPECT_EQ(answer.most.write_bytes, 500.0 * 65'536 * 4);
}

// A tensor for each chunk is possible: an element each.
TEST(ListLaunch, FewChunksShowLittle) {
  const WorkAnswer answer = list_launch_work(list_kernel("2", kAddLists), {320, 512});
  EXPECT_EQ(answer.work.read_bytes, 320 * 4);
}

// Norms write a number for each chunk, zeros read nothing, Adam reads four lists and writes three,
// or four where gradients were scaled.
TEST(ListLaunch, FunctionsReadAndWriteTheirOwn) {
  const WorkAnswer norm = list_launch_work(
      list_kernel("1", "at::native::LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0>"),
      {10, 512});
  EXPECT_EQ(norm.most.read_bytes, 10 * 65'536 * 4);
  EXPECT_EQ(norm.most.write_bytes, 0);
  const WorkAnswer zero = list_launch_work(
      list_kernel("1", "at::native::(anonymous namespace)::ZeroFunctor<double, 1, 1, 0>"),
      {1, 512});
  EXPECT_EQ(zero.most.read_bytes, 0);
  EXPECT_EQ(zero.most.write_bytes, 65'536 * 8);
  const WorkAnswer adam = list_launch_work(
      list_kernel("4",
                  "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
                  "(at::native::ADAM_MODE)1, false>"),
      {1, 512});
  EXPECT_EQ(adam.work.bytes(), 7 * 4);
  EXPECT_EQ(adam.most.bytes(), 65'536 * 8 * 4);
}

TEST(ListLaunch, ChunkSizeAsAnArgumentIsUnknown) {
  EXPECT_EQ(list_launch_work("void multi_tensor_apply_kernel<TensorListMetadata<4>, "
                             "AdamFunctor<float>, float>(int, TensorListMetadata<4>)",
                             {320, 512})
                .known,
            WorkKnown::kNoModel);
  EXPECT_EQ(list_launch_work(list_kernel("2", kAddLists), {320, 256}).known, WorkKnown::kNoModel);
  EXPECT_EQ(list_launch_work(list_kernel("2", "f<float, 2, 3, 0>"), {1, 512}).known,
            WorkKnown::kNoModel);
}

}  // namespace
}  // namespace assay
