#include "roof/work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "roof/models.h"

namespace assay {
namespace {

struct Told {
  std::string dims;
  std::string types = {};
  std::string values = {};
  std::string strides = {};
};

WorkAnswer work(std::string_view op, const Told& told, ElementType list = ElementType::kUntold) {
  return operator_work(op, read_op_inputs(told.dims, told.types, told.strides, told.values, list));
}

// ---- arguments ----------------------------------------------------------------------------------

TEST(OpInputs, DistinguishesListsTensorsAndValues) {
  const std::string dims = "[[8,128],[],[[2,3],[4]],[]]";
  const std::string types = R"(["float","Scalar","TensorList","double"])";
  const std::string values = R"(["","[3, 3]","",""])";
  const OpInputs inputs = read_op_inputs(dims, types, "", values, ElementType::kBFloat16);
  ASSERT_EQ(inputs.arguments.size(), 4U);
  EXPECT_EQ(inputs.tensor(0)->sizes, (Sizes{8, 128}));
  EXPECT_EQ(inputs.tensor(1), nullptr);
  EXPECT_EQ(inputs.numbers(1), (Sizes{3, 3}));
  ASSERT_EQ(inputs.arguments[2].tensors.size(), 2U);
  EXPECT_EQ(inputs.arguments[2].tensors[1].bytes(), 8);  // four of two bytes
  EXPECT_EQ(inputs.tensor(3)->elements(), 1);            // a tensor without axes
}

TEST(OpInputs, AnAxisOfStrideZeroIsStoredOnce) {
  const OpInputs inputs = read_op_inputs("[[16,559]]", R"(["long int"])", "[[0,1]]", "");
  EXPECT_EQ(inputs.tensor(0)->elements(), 16 * 559);
  EXPECT_EQ(inputs.tensor(0)->bytes(), 559 * 8);
}

TEST(OpInputs, IrregularTextsGiveTheReadablePart) {
  EXPECT_TRUE(read_op_inputs("", "", "", "").arguments.empty());
  EXPECT_TRUE(read_op_inputs("[[[[[[", "", "", "").arguments.size() <= 1);
  EXPECT_EQ(read_op_inputs("[[8,x],[3]]", R"(["float","float"])", "", "").arguments.size(), 1U);
}

// ---- products -----------------------------------------------------------------------------------

TEST(ProductWork, IsTwoMnkAndEveryMatrixOnce) {
  const WorkAnswer mm =
      work("aten::mm", {"[[8192,4096],[4096,14336]]", R"(["c10::BFloat16","c10::BFloat16"])"});
  ASSERT_EQ(mm.known, WorkKnown::kTold);
  EXPECT_EQ(mm.work.flop, 962072674304.0);
  EXPECT_EQ(mm.work.read_bytes, 2.0 * (8192.0 * 4096 + 4096.0 * 14336));
  EXPECT_EQ(mm.work.write_bytes, 2.0 * 8192 * 14336);
  EXPECT_TRUE(mm.work.matrix);
}

TEST(ProductWork, AddsBatchesAndVectors) {
  const char* floats = R"(["float","float","float","Scalar","Scalar"])";
  const WorkAnswer addmm = work("aten::addmm", {"[[6144],[8192,4096],[4096,6144],[],[]]", floats});
  EXPECT_EQ(addmm.work.flop, 412316860416.0);
  EXPECT_EQ(addmm.work.read_bytes, 4.0 * (6144 + 8192.0 * 4096 + 4096.0 * 6144));
  EXPECT_EQ(matrix_flop("aten::bmm", "[[2,3,4],[2,4,5]]", ""), 2.0 * 2 * 3 * 4 * 5);
  EXPECT_EQ(matrix_flop("aten::linear", "[[2,4096,4096],[128256,4096],[]]", ""), 8607114461184.0);
  EXPECT_EQ(matrix_flop("aten::matmul", "[[7,1,3,4],[5,4,6]]", ""), 2.0 * 7 * 5 * 3 * 4 * 6);
  EXPECT_EQ(matrix_flop("aten::mv", "[[3,4],[4]]", ""), 24);
}

TEST(ProductWork, EightBitFactorsGiveTheRequestedType) {
  const char* types =
      R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])";
  const WorkAnswer scaled = work("aten::_scaled_mm", {"[[16,32],[32,64],[],[],[],[],[],[]]", types,
                                                      R"(["","","","","","","15","False"])"});
  ASSERT_EQ(scaled.known, WorkKnown::kTold);
  EXPECT_EQ(scaled.work.math, ElementType::kFloat8);
  EXPECT_EQ(scaled.work.flop, 2.0 * 16 * 32 * 64);
  EXPECT_EQ(scaled.work.read_bytes, 16 * 32 + 32 * 64);
  EXPECT_EQ(scaled.work.write_bytes, 16 * 64 * 2);
}

TEST(ProductWork, FourBitsComeTwoToAByte) {
  const char* types =
      R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","","","","","Scalar",""])";
  const WorkAnswer packed = work("aten::_scaled_mm", {"[[16,32],[32,64],[],[],[],[],[],[]]", types,
                                                      R"(["","","","","","","15",""])"});
  EXPECT_EQ(packed.work.flop, 2.0 * 16 * 64 * 64);  // 64 values in 32 bytes
  EXPECT_EQ(packed.work.read_bytes, 16 * 32 + 32 * 64);
}

TEST(ProductWork, GroupsReadNoMoreMatricesThanTheyHaveRows) {
  const char* types = R"(["c10::BFloat16","c10::BFloat16","int"])";
  const WorkAnswer many = work("aten::_grouped_mm", {"[[100,8],[4,8,16],[4]]", types});
  EXPECT_EQ(many.work.flop, 2.0 * 100 * 8 * 16);
  EXPECT_EQ(many.work.read_bytes, 2.0 * (100 * 8 + 4 * 8 * 16));
  const WorkAnswer few = work("aten::_grouped_mm", {"[[2,8],[4,8,16],[4]]", types});
  EXPECT_EQ(few.work.read_bytes, 2.0 * (2 * 8 + 2 * 8 * 16));
}

TEST(ProductWork, MismatchedShapesAreUnknown) {
  EXPECT_TRUE(std::isnan(matrix_flop("aten::mm", "[[8,4],[5,2]]", "")));
  EXPECT_TRUE(std::isnan(matrix_flop("aten::mm", "[[8,4]]", "")));
  EXPECT_TRUE(std::isnan(matrix_flop("aten::mm", "", "")));
  EXPECT_TRUE(std::isnan(matrix_flop("aten::mm", "[[[[[[", "")));
  EXPECT_TRUE(std::isnan(matrix_flop("aten::mm", "[[0,4],[4,2]]", "")));
  EXPECT_TRUE(std::isnan(matrix_flop("aten::add", "[[8,4],[4,2]]", "")));
  EXPECT_EQ(work("aten::mm", {"[[8,4],[4,2]]"}).known, WorkKnown::kNoTypes);
  EXPECT_EQ(work("aten::mm", {"[[-8,4],[4,2]]", R"(["float","float"])"}).known,
            WorkKnown::kNotCovered);
  EXPECT_EQ(work("aten::no_such_op", {"[[8,4]]"}).known, WorkKnown::kNoModel);
}

// ---- convolutions -------------------------------------------------------------------------------

// The first layer of ResNet-50 on one image: 112 x 112 x 64 results of 3 x 7 x 7 products each,
// 118,013,952 multiplications with additions.
TEST(ConvolutionWork, FirstLayerOfResNet) {
  const char* types = R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar"])";
  const WorkAnswer conv = work("aten::conv2d", {"[[1,3,224,224],[64,3,7,7],[],[],[],[],[]]", types,
                                                R"(["","","","[2, 2]","[3, 3]","[1, 1]","1"])"});
  ASSERT_EQ(conv.known, WorkKnown::kTold);
  EXPECT_EQ(conv.work.flop, 2.0 * 118013952);
  EXPECT_EQ(conv.work.read_bytes, 4.0 * (3 * 224 * 224 + 64 * 3 * 7 * 7));
  EXPECT_EQ(conv.work.write_bytes, 4.0 * 64 * 112 * 112);
}

// Depthwise, 3 x 3, dilation 2, no padding: 14 - 5 + 1 = 10 along each axis.
TEST(ConvolutionWork, GroupsAndDilation) {
  const char* values = R"(["","","","[0, 0]","[1, 1]","[2, 2]","32","False","False"])";
  const char* types =
      R"(["c10::Half","c10::Half","","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar"])";
  const WorkAnswer conv = work("aten::miopen_convolution",
                               {"[[2,32,14,14],[32,1,3,3],[],[],[],[],[],[],[]]", types, values});
  EXPECT_EQ(conv.work.flop, 2.0 * 2 * 32 * 10 * 10 * 9);
  EXPECT_EQ(conv.work.write_bytes, 2.0 * 2 * 32 * 10 * 10);
}

// Transposed: every input element takes part once for each weight of its channel. 4 x 4 with stride
// 2, padding 1 and output padding 1: (4 - 1) 2 - 2 + 3 + 1 = 8 along each axis.
TEST(ConvolutionWork, TransposedTakesTheInputsElements) {
  const char* values = R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1"])";
  const char* types =
      R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";
  const WorkAnswer conv =
      work("aten::convolution", {"[[1,16,4,4],[16,8,3,3],[],[],[],[],[],[],[]]", types, values});
  EXPECT_EQ(conv.work.flop, 2.0 * 16 * 4 * 4 * 8 * 9);
  EXPECT_EQ(conv.work.write_bytes, 4.0 * 8 * 8 * 8);
}

TEST(ConvolutionWork, BackwardIsOneForwardForEachRequestedGradient) {
  const char* dims = "[[10,512,7,7],[10,512,7,7],[512,512,3,3],[],[],[],[],[],[],[],[]]";
  const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","ScalarList",
      "ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])";
  const std::string values = R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1",)";
  const double forward = 2.0 * 10 * 512 * 7 * 7 * 512 * 9;
  const WorkAnswer both =
      work("aten::convolution_backward", {dims, types, values + R"("[True, True, False]"])"});
  ASSERT_EQ(both.known, WorkKnown::kTold);
  EXPECT_EQ(both.work.flop, 2 * forward);
  const double x = 2.0 * 10 * 512 * 7 * 7;
  const double w = 2.0 * 512 * 512 * 9;
  EXPECT_EQ(both.work.read_bytes, 2 * x + w);
  EXPECT_EQ(both.work.write_bytes, x + w);
  const WorkAnswer weight =
      work("aten::convolution_backward", {dims, types, values + R"("[False, True, False]"])"});
  EXPECT_EQ(weight.work.flop, forward);
  EXPECT_EQ(weight.work.write_bytes, w);
  EXPECT_EQ(work("aten::convolution_backward", {dims, types}).known, WorkKnown::kNoValues);
}

TEST(ConvolutionWork, PartsOfTheBackwardPassTakeTheWeightFromWhatIsAroundThem) {
  const char* types = R"(["GenericList","float","float"])";
  const OpInputs inner = read_op_inputs("[[],[32,2048,7,7],[32,512,7,7]]", types, "", "");
  EXPECT_EQ(operator_work("aten::cudnn_convolution_backward_weight", inner).known,
            WorkKnown::kNoShapes);
  const OpInputs outer = read_op_inputs("[[32,512,7,7],[32,2048,7,7],[2048,512,1,1]]",
                                        R"(["float","float","float"])", "", "");
  const WorkAnswer answer = operator_work("aten::cudnn_convolution_backward_weight", inner,
                                          {"aten::cudnn_convolution_backward", &outer});
  ASSERT_EQ(answer.known, WorkKnown::kTold);
  EXPECT_EQ(answer.work.flop, 2.0 * 32 * 2048 * 7 * 7 * 512);
  EXPECT_EQ(answer.work.write_bytes, 4.0 * 2048 * 512);
}

TEST(ConvolutionWork, ResultIsUnknownIfThereIsNoStride) {
  const char* types = R"(["float","float","GenericList","GenericList","GenericList","Int"])";
  EXPECT_EQ(
      work("aten::cudnn_convolution", {"[[32,64,56,56],[64,64,1,1],[],[],[],[]]", types}).known,
      WorkKnown::kNoValues);
}

// ---- attention ----------------------------------------------------------------------------------

TEST(AttentionWork, CountsThePairsThatMayMeet) {
  const AttentionWindow causal{.right = 0};
  EXPECT_EQ(attended_pairs(4, 4, {}), 16);
  EXPECT_EQ(attended_pairs(4, 4, causal), 10);                     // 1 + 2 + 3 + 4
  EXPECT_EQ(attended_pairs(4, 2, causal), 7);                      // 1 + 2 + 2 + 2
  EXPECT_EQ(attended_pairs(1, 9, {.offset = 8, .right = 0}), 9);   // one token at the end
  EXPECT_EQ(attended_pairs(1, 9, causal), 1);                      // one token at the start
  EXPECT_EQ(attended_pairs(4, 2, {.offset = -2, .right = 0}), 3);  // 0 + 0 + 1 + 2
  EXPECT_EQ(attended_pairs(5, 5, {.left = 1, .right = 0}), 9);     // 1 + 2 + 2 + 2 + 2
}

TEST(AttentionWork, ForwardIsTwoProductsBackwardFive) {
  const std::string q = "[2,32,4096,128]";
  const std::string dims = "[" + q + "," + q + "," + q + ",[],[],[],[]]";
  const char* types =
      R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar"])";
  const char* op = "aten::_scaled_dot_product_flash_attention";
  const WorkAnswer full = work(op, {dims, types, R"(["","","","0.","False","False",""])"});
  ASSERT_EQ(full.known, WorkKnown::kTold);
  EXPECT_EQ(full.work.flop, 549755813888.0);
  EXPECT_EQ(full.work.read_bytes, 3 * 2.0 * 2 * 32 * 4096 * 128);
  EXPECT_EQ(full.work.write_bytes, 2.0 * 2 * 32 * 4096 * 128);
  const WorkAnswer causal = work(op, {dims, types, R"(["","","","0.","True","False",""])"});
  EXPECT_EQ(causal.work.flop, 549755813888.0 / 2 * 4097 / 4096);
  const std::string backward =
      "[" + q + "," + q + "," + q + "," + q + "," + q + ",[2,32,4096],[],[],[],[],[],[],[],[]]";
  EXPECT_EQ(matrix_flop("aten::_scaled_dot_product_flash_attention_backward", backward,
                        R"(["","","","","","","","","","","0.","False","","",""])"),
            2.5 * 549755813888.0);
}

TEST(AttentionWork, SharedKeysAreReadOnce) {
  const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","Scalar"])";
  const WorkAnswer one = work("aten::scaled_dot_product_attention",
                              {"[[1,32,1,128],[1,8,1000,128],[1,8,1000,128],[],[],[]]", types,
                               R"(["","","","","0.","False"])"});
  EXPECT_EQ(one.work.flop, 4.0 * 32 * 1000 * 128);
  EXPECT_EQ(one.work.read_bytes, 2.0 * (32 * 128 + 2 * 8 * 1000 * 128));
}

TEST(AttentionWork, PackedSequencesAreKnownIfAllAreEquallyLong) {
  const std::string dims =
      "[[15360,32,128],[835874,8,128],[835874,8,128],[16],[16],[15616],[],[],[],[],[],[],[],[],[]]";
  const std::string types =
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","int","Scalar","Scalar"])";
  const auto prefill = [&](const char* longest) {
    return work("aiter::mha_batch_prefill", {dims, types,
                                             R"(["","","","","","",)" + std::string(longest) +
                                                 R"(,"0.","0.","0.","False","True","-1","-1"])"});
  };
  const WorkAnswer equal = prefill(R"("1024","1024")");
  ASSERT_EQ(equal.known, WorkKnown::kTold);
  EXPECT_EQ(equal.work.flop, 15.0 * 32 * 4 * 128 * 1024 * 1025 / 2);
  EXPECT_EQ(equal.work.read_bytes, 2.0 * 15360 * 128 * (32 + 2 * 8));
  EXPECT_EQ(prefill(R"("2000","2000")").known, WorkKnown::kBounds);
  EXPECT_EQ(prefill(R"("1024","4096")").known, WorkKnown::kBounds);
}

// Two sequences, 4 queries and 2 heads of 8, one head of keys; the longest has 100 keys. Least:
// each query looks at one key, of which one is read for the (at most 3) queries of each sequence.
// Most: each looks at 100 keys less those behind it, fewest where both sequences have 2 queries:
// 400 - 2.
TEST(AttentionWork, PagesAreKnownWithinBounds) {
  const std::string pages = "[50,16,1,8]";
  const std::string dims = "[[4,2,8]," + pages + "," + pages +
                           ",[4,2,8],[3],[3],[2],[],[2,7],[],[],[],[],[],[],[],[],[],[],[],[]]";
  const std::string bf16 = R"("c10::BFloat16")";
  const std::string types = "[" + bf16 + "," + bf16 + "," + bf16 + "," + bf16 + R"(,"int","int"])";
  const auto varlen = [&](const std::string& causal, const std::string& left) {
    return work("_vllm_fa2_C::varlen_fwd",
                {dims, types,
                 R"(["","","","","","","","","","","3","100","0.","0.1","False",")" + causal +
                     R"(",")" + left + R"(","-1"])"});
  };
  const WorkAnswer all = varlen("True", "-1");
  ASSERT_EQ(all.known, WorkKnown::kBounds);
  EXPECT_TRUE(all.work.by_values);
  EXPECT_EQ(all.work.flop, 2.0 * 2 * (8 + 8) * 4);
  EXPECT_EQ(all.most.flop, 2.0 * 2 * (8 + 8) * 398);
  const double queries = 2.0 * 4 * 2 * 8;
  EXPECT_EQ(all.work.bytes(), 2 * queries + 2.0 * 2 * 16);
  EXPECT_EQ(all.most.bytes(), 2 * queries + 2.0 * 2 * 100 * 16);
  EXPECT_EQ(varlen("False", "-1").most.flop, 2.0 * 2 * 16 * 400);
  EXPECT_EQ(varlen("True", "9").most.flop, 2.0 * 2 * 16 * 40);
  EXPECT_EQ(varlen("", "-1").known, WorkKnown::kNoValues);
}

// Queries whose scores are with the values (32 of them per head) are read and multiplied, too.
TEST(AttentionWork, LatentQueriesAddToTheScores) {
  const auto latent = [](const std::string& queries) {
    std::string dims = "[[4,2,8],[50,16,1,8],[50,16,1,32],[],[]," + queries + ",[4,2,32],[3]";
    std::string types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","",)" +
                        std::string(queries == "[]" ? R"("")" : R"("c10::BFloat16")") +
                        R"(,"c10::BFloat16","int")";
    std::string values = R"(["","","","","","","","","","","","","3","100")";
    for (int i = 8; i < 27; ++i) dims += ",[]";
    for (int i = 8; i < 27; ++i) types += R"(,"")";
    for (int i = 14; i < 24; ++i) values += R"(,"")";
    return work("_vllm_fa3_C::fwd", {dims + "]", types + "]", values + R"(,"True","-1","-1"])"});
  };
  const WorkAnswer plain = latent("[]");
  const WorkAnswer told = latent("[4,2,32]");
  ASSERT_EQ(plain.known, WorkKnown::kBounds);
  ASSERT_EQ(told.known, WorkKnown::kBounds);
  EXPECT_EQ(plain.work.flop, 2.0 * 2 * 4 * (8 + 32));
  EXPECT_EQ(told.work.flop, 2.0 * 2 * 4 * (8 + 32 + 32));
  EXPECT_EQ(told.work.read_bytes, plain.work.read_bytes + 2.0 * 4 * 2 * 32);
  EXPECT_EQ(told.work.write_bytes, plain.work.write_bytes);
}

// As training calls it: rows of one length, and nothing that says where sequences begin.
TEST(AttentionWork, APackedOperatorCalledWithRowsOfOneLength) {
  const auto dense = [](const std::string& new_keys, const std::string& starts) {
    std::string dims =
        "[[2,512,16,64],[2,512,4,64],[2,512,4,64]," + new_keys + ",[],[],[]," + starts;
    std::string types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16")";
    types += new_keys == "[]" ? R"(,"")" : R"(,"c10::BFloat16")";
    types += R"(,"","","")";
    types += starts == "[]" ? R"(,"")" : R"(,"int")";
    std::string values = R"(["")";
    for (int i = 8; i < 27; ++i) dims += ",[]";
    for (int i = 8; i < 27; ++i) types += R"(,"")";
    for (int i = 1; i < 24; ++i) values += R"(,"")";
    return work("flash_attn_3::fwd", {dims + "]", types + "]", values + R"(,"False","-1","-1"])"});
  };
  const WorkAnswer told = dense("[]", "[]");
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.flop, 2.0 * 2 * 16 * 512 * 512 * (64 + 64));
  EXPECT_EQ(told.work.read_bytes, 2.0 * 2 * 512 * 64 * (16 + 4 + 4));
  EXPECT_NE(dense("[2,1,4,64]", "[]").known, WorkKnown::kTold);  // keys are added to a cache
  EXPECT_NE(dense("[]", "[3]").known, WorkKnown::kTold);
}

TEST(AttentionWork, OneQueryPerSequenceReadsNoMoreThanTheLongest) {
  const std::string dims =
      "[[3,4,8],[3,4,8],[50,2,1,16,8],[50,2,8,16],[],[],[3,9],[3],[],[],[],[],[],[],[],[],[],[],[],"
      "[]]";
  const std::string half = R"("c10::Half")";
  const std::string types = "[" + half + "," + half + R"(,"unsigned char","unsigned char"])";
  const auto paged = [&](const char* longest) {
    return work(
        "_C::paged_attention_v1",
        {dims, types, R"(["","","","","2","0.1","","","16",")" + std::string(longest) + R"("])"});
  };
  const WorkAnswer told = paged("20");
  ASSERT_EQ(told.known, WorkKnown::kBounds);
  EXPECT_EQ(told.work.flop, 2.0 * 3 * 4 * 16);
  EXPECT_EQ(told.most.flop, 2.0 * 3 * 4 * 20 * 16);
  EXPECT_EQ(told.work.bytes(), 2 * 2.0 * 3 * 4 * 8 + 3 * 2 * 16);
  EXPECT_EQ(told.most.bytes(), 2 * 2.0 * 3 * 4 * 8 + 3 * 2 * 20 * 16);
  // A cache of 50 pages of 16 keys: no more is read.
  EXPECT_EQ(paged("5000").most.bytes(), 2 * 2.0 * 3 * 4 * 8 + 50 * 16 * 2 * 16);
  EXPECT_EQ(work("vllm::unified_attention_with_output", {"[[32,64,64]]"}).known,
            WorkKnown::kNotCovered);
}

TEST(AttentionWork, LengthsThatAreNoneAreNotCovered) {
  for (const char* length : {"nan", "-4", "1e300"}) {
    const std::string q = std::string("[1,2,") + length + ",4]";
    const std::string dims = "[" + q + ",[1,2,3,4],[1,2,3,4],[],[],[]]";
    const WorkAnswer answer =
        work("aten::scaled_dot_product_attention", {dims, "", R"(["","","","","0.","True"])"});
    EXPECT_NE(answer.known, WorkKnown::kTold) << length;
    EXPECT_EQ(answer.work.flop, 0) << length;
  }
}

TEST(AttentionWork, IsUnknownIfThereIsNoFlag) {
  EXPECT_EQ(work("aten::scaled_dot_product_attention", {"[[1,2,3,4],[1,2,3,4],[1,2,3,4],[],[],[]]"})
                .known,
            WorkKnown::kNoValues);
}

// ---- what streams through memory ----------------------------------------------------------------

TEST(StreamWork, ElementwiseReadsWhatIsStoredAndWritesTheBroadcast) {
  const WorkAnswer add =
      work("aten::add", {"[[8,1,4],[3,1],[]]", R"(["float","c10::BFloat16","Scalar"])"});
  EXPECT_EQ(add.work.flop, 8 * 3 * 4);
  EXPECT_EQ(add.work.read_bytes, 32 * 4 + 3 * 2);
  EXPECT_EQ(add.work.write_bytes, 96 * 4);
  const WorkAnswer in_place = work("aten::mul_", {"[[8,4],[]]", R"(["c10::Half","double"])"});
  EXPECT_EQ(in_place.work.write_bytes, 32 * 2);
  const WorkAnswer less = work("aten::lt", {"[[8,4],[]]", R"(["float","Scalar"])"});
  EXPECT_EQ(less.work.write_bytes, 32);
  const WorkAnswer scalar = work("aten::mul", {"[[],[8,4]]", R"(["float","c10::Half"])"});
  EXPECT_EQ(scalar.work.write_bytes, 32 * 2);  // a number without axes widens nothing
  EXPECT_EQ(work("aten::add", {"[[8,4],[3]]", R"(["float","float"])"}).known,
            WorkKnown::kNotCovered);
}

TEST(StreamWork, TheCallersOwnResultIsNotRead) {
  const WorkAnswer exp = work("aten::exp", {"[[4,5],[4,5]]", R"(["float","float"])"});
  EXPECT_EQ(exp.work.read_bytes, 80);
  EXPECT_EQ(exp.work.write_bytes, 80);
}

TEST(StreamWork, CopiesReductionsAndNorms) {
  const WorkAnswer copy =
      work("aten::copy_", {"[[4,5],[4,5],[]]", R"(["double","float","Scalar"])"});
  EXPECT_EQ(copy.work.read_bytes, 20 * 4);
  EXPECT_EQ(copy.work.write_bytes, 20 * 8);
  const WorkAnswer sum = work(
      "aten::sum",
      {"[[4,5],[],[],[]]", R"(["float","ScalarList","Scalar",""])", R"(["","[-1]","False",""])"});
  EXPECT_EQ(sum.work.read_bytes, 80);
  EXPECT_EQ(sum.work.write_bytes, 16);
  const WorkAnswer norm =
      work("aten::native_layer_norm",
           {"[[10,512],[],[512],[512],[]]", R"(["float","","float","float","Scalar"])"});
  EXPECT_EQ(norm.work.bytes(), 4.0 * (2 * 5120 + 2 * 512));
}

// Without recorded values the axes of a sum are not known: 1 to 20 elements are left. A sum that
// was called with no axes leaves one.
TEST(StreamWork, UnrecordedAxesAreBracketed) {
  constexpr const char* kTypes = R"(["float","","",""])";
  const WorkAnswer some = work("aten::sum", {"[[4,5],[],[],[]]", kTypes, ""});
  ASSERT_EQ(some.known, WorkKnown::kBounds);
  EXPECT_EQ(some.work.bytes(), 80 + 4);
  EXPECT_EQ(some.most.bytes(), 80 + 80);
  const WorkAnswer all = work("aten::sum", {"[[4,5],[]]", kTypes, ""});
  ASSERT_EQ(all.known, WorkKnown::kTold);
  EXPECT_EQ(all.work.bytes(), 80 + 4);
}

TEST(StreamWork, LookupsTakeRowsOnce) {
  const WorkAnswer rows = work(
      "aten::embedding", {"[[1000,64],[2,7],[],[],[]]", R"(["float","long int","Scalar","",""])"});
  EXPECT_EQ(rows.work.read_bytes, 14 * 8 + 14 * 64 * 4);
  EXPECT_EQ(rows.work.write_bytes, 14 * 64 * 4);
  const WorkAnswer small = work(
      "aten::embedding", {"[[3,64],[2,7],[],[],[]]", R"(["float","long int","Scalar","",""])"});
  EXPECT_EQ(small.work.read_bytes, 14 * 8 + 3 * 64 * 4);
}

// 10 rows of 6 FP32: 240 bytes in; 8 values, scale and bias out. Back: 16 bytes in, 8 FP32 out.
TEST(StreamWork, RowsOfEightBitsHaveScaleAndBias) {
  const WorkAnswer to =
      work("fbgemm::FloatToFP8RowwiseQuantized", {"[[10,6],[]]", R"(["float","Scalar"])"});
  ASSERT_EQ(to.known, WorkKnown::kTold);
  EXPECT_EQ(to.work.read_bytes, 240);
  EXPECT_EQ(to.work.write_bytes, 10 * (8 + 8));
  const WorkAnswer back =
      work("fbgemm::FP8RowwiseQuantizedToFloat", {"[[10,16],[]]", R"(["unsigned char","Scalar"])"});
  ASSERT_EQ(back.known, WorkKnown::kTold);
  EXPECT_EQ(back.work.read_bytes, 160);
  EXPECT_EQ(back.work.write_bytes, 10 * 8 * 4);
  EXPECT_EQ(
      work("fbgemm::FP8RowwiseQuantizedToFloat", {"[[10,4],[]]", R"(["unsigned char"])"}).known,
      WorkKnown::kNotCovered);
}

// A permutation of columns reads and writes them; the check of indices reads them and the offsets.
TEST(StreamWork, PooledRowsAndIndicesOfEmbeddings) {
  const WorkAnswer moved =
      work("fbgemm::permute_pooled_embs_auto_grad",
           {"[[4,96],[3],[2],[3],[2]]", R"(["float","long","long","long","long"])"});
  EXPECT_EQ(moved.work.bytes(), 2 * 4 * 96 * 4);
  const WorkAnswer checked = work("fbgemm::bounds_check_indices",
                                  {"[[2],[100],[9],[],[1],[],[],[]]",
                                   R"(["long","long","long","Scalar","long","","","Scalar"])"});
  ASSERT_EQ(checked.known, WorkKnown::kTold);
  EXPECT_EQ(checked.work.bytes(), 8 * (2 + 100 + 9));
}

TEST(StreamWork, ListsTakeTheirTypeFromTheKernel) {
  const Told lists = {"[[[128,128],[128]],[[128,128],[128]],[]]",
                      R"(["TensorList","TensorList","Scalar"])"};
  EXPECT_EQ(work("aten::_foreach_add_", lists).known, WorkKnown::kNoTypes);
  const WorkAnswer told = work("aten::_foreach_add_", lists, ElementType::kFloat32);
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.bytes(), 3 * 4.0 * (128 * 128 + 128));
  // Of two factors one is sure to be read: Adam squares the gradient.
  const Told squares = {"[[[100]],[[100]],[[100]],[]]",
                        R"(["TensorList","TensorList","TensorList","Scalar"])"};
  EXPECT_EQ(work("aten::_foreach_addcmul_", squares, ElementType::kFloat32).work.bytes(), 3 * 400);
  const Told broadcast = {"[[100],[1],[100]]", R"(["float","float","float"])"};
  EXPECT_EQ(work("aten::addcmul_", broadcast).work.bytes(), 4 * (100 + 1 + 100 + 100));
  const Told square = {"[[100],[100],[100]]", broadcast.types};
  EXPECT_EQ(work("aten::addcmul_", square).work.bytes(), 3 * 400);
  EXPECT_EQ(work("aten::_foreach_addcdiv_", squares, ElementType::kFloat32).work.bytes(), 4 * 400);
  const Told adam = {"[[[100]],[[100]],[[100]],[[100]],[],[[]]]",
                     R"(["TensorList","TensorList","TensorList","TensorList","","TensorList"])"};
  EXPECT_EQ(work("aten::_fused_adam_", adam, ElementType::kFloat32).work.bytes(), 7 * 400);
  // As PyTorch 2.11 writes it: the list of maxima is a list, and empty.
  const Told adamw = {
      "[[[100]],[[100]],[[100]],[[100]],[],[[]]]",
      R"(["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList"])"};
  EXPECT_EQ(work("aten::_fused_adamw_", adamw, ElementType::kFloat32).work.bytes(), 7 * 400);
  const Told untold = {"[[],[],[],[],[],[]]", adamw.types};
  EXPECT_EQ(work("aten::_fused_adamw_", untold, ElementType::kFloat32).known, WorkKnown::kNoShapes);
  const Told cat = {"[[[16,559,32],[16,559,32]],[]]", R"(["TensorList","Scalar"])"};
  EXPECT_EQ(work("aten::cat", cat).known, WorkKnown::kNoTypes);
  const ElementType moved = element_type_moved(
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
      "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(int)");
  EXPECT_EQ(work("aten::cat", cat, moved).work.bytes(), 2 * 2.0 * (2 * 16 * 559 * 32));
  EXPECT_EQ(element_type_moved("CatArrayBatchedCopy<float, unsigned int>"), ElementType::kUntold);
  EXPECT_EQ(element_type_moved("OpaqueType<3u>"), ElementType::kUntold);
  EXPECT_EQ(work("aten::cat", {"[[],[]]", R"(["TensorList","Scalar"])"}).known,
            WorkKnown::kNoShapes);
}

TEST(StreamWork, ExpertsWithoutATokenAreNotRead) {
  const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int"])";
  const WorkAnswer experts =
      work("vllm::inplace_fused_experts", {"[[3,64],[8,32,64],[8,64,16],[3,2],[3,2]]", types});
  ASSERT_EQ(experts.known, WorkKnown::kTold);
  EXPECT_EQ(experts.work.flop, 2.0 * 6 * (32 * 64 + 64 * 16));
  EXPECT_EQ(experts.work.read_bytes, 2.0 * (3 * 64 + 6 * (32 * 64 + 64 * 16)));
}

TEST(StreamWork, RowsOfExpertsOnOtherGpusAreNotCounted) {
  const auto mapped = [](const char* map) {
    return work("vllm::inplace_fused_experts",
                {"[[3,64],[8,32,64],[8,64,16],[3,2],[3,2],[],[" + std::string(map) + "]]",
                 R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int","","int"])"})
        .known;
  };
  EXPECT_EQ(mapped("64"), WorkKnown::kNotCovered);
  EXPECT_EQ(mapped("8"), WorkKnown::kTold);
}

TEST(StreamWork, GeneratedKernelsTouchNoMoreThanTheyAreLaunchedOver) {
  const WorkAnswer kernel =
      work("triton_poi_fused_add_3",
           {"[[2,40],[1000,40],[2,40],[]]", R"(["c10::BFloat16","c10::BFloat16","float","Scalar"])",
            R"(["","","","80"])"});
  ASSERT_EQ(kernel.known, WorkKnown::kTold);
  EXPECT_EQ(kernel.work.bytes(), 80 * 2 + 80 * 2 + 80 * 4);
  EXPECT_EQ(kernel.work.flop, 0);
}

// ---- what an index tells ------------------------------------------------------------------------

TEST(LookupWork, SlicesAlongAnyAxis) {
  const std::string types = R"(["float","Scalar","long int"])";
  const WorkAnswer columns =
      work("aten::index_select", {"[[10,6],[],[3]]", types, R"(["","-1",""])"});
  ASSERT_EQ(columns.known, WorkKnown::kTold);
  EXPECT_EQ(columns.work.read_bytes, 3 * 8 + 30 * 4);
  EXPECT_EQ(columns.work.write_bytes, 30 * 4);
  EXPECT_EQ(work("aten::index_select", {"[[10,6],[],[3]]", types}).known, WorkKnown::kNoValues);
  EXPECT_EQ(work("aten::index_select", {"[[10,6],[],[3]]", types, R"(["","2",""])"}).known,
            WorkKnown::kNotCovered);
}

TEST(LookupWork, ScattersTouchTheIndexedElements) {
  const std::string types = R"(["float","Scalar","long int","float"])";
  // 1,000 values added into 50 places: every place is read and written once.
  const WorkAnswer add =
      work("aten::scatter_add_", {"[[50],[],[1000],[1000]]", types, R"(["","0","",""])"});
  ASSERT_EQ(add.known, WorkKnown::kTold);
  EXPECT_EQ(add.work.flop, 1000);
  EXPECT_EQ(add.work.read_bytes, 1000 * 8 + 1000 * 4 + 50 * 4);
  EXPECT_EQ(add.work.write_bytes, 50 * 4);
  const WorkAnswer rows =
      work("aten::index_copy_", {"[[100,8],[],[3],[3,8]]", types, R"(["","0","",""])"});
  EXPECT_EQ(rows.work.read_bytes, 3 * 8 + 24 * 4);
  EXPECT_EQ(rows.work.write_bytes, 24 * 4);
  // Not in place: the rest is copied.
  const WorkAnswer whole =
      work("aten::scatter", {"[[50],[],[10],[10]]", types, R"(["","0","",""])"});
  EXPECT_EQ(whole.work.read_bytes, 10 * 8 + 10 * 4 + 50 * 4);
  EXPECT_EQ(whole.work.write_bytes, 50 * 4);
}

TEST(LookupWork, IndicesThatAreAListBroadcast) {
  const std::string types = R"(["float","TensorList","float","Scalar"])";
  const WorkAnswer taken =
      work("aten::index", {"[[10,20,4],[[3,1],[5]]]", types}, ElementType::kInt64);
  ASSERT_EQ(taken.known, WorkKnown::kTold);
  EXPECT_EQ(taken.work.read_bytes, 8 * 8 + 15 * 4 * 4);
  EXPECT_EQ(taken.work.write_bytes, 15 * 4 * 4);
  // Indices have eight bytes, whatever the kernel's name says of the elements.
  EXPECT_EQ(work("aten::index", {"[[10,20,4],[[3,1],[5]]]", types}, ElementType::kBFloat16)
                .work.read_bytes,
            8 * 8 + 15 * 4 * 4);
  for (const char* list : {"[10]", "[10,20]", "[10,20,4]", "[3],[20,4]"}) {
    const std::string dims = "[[10,20,4],[" + std::string(list) + "]]";
    EXPECT_EQ(work("aten::index", {dims, types}).known, WorkKnown::kNotCovered) << list;
  }
  const WorkAnswer put = work("aten::index_put_",
                              {"[[10,20,4],[[3,1],[5]],[3,5,4],[]]", types, R"(["","","","True"])"},
                              ElementType::kInt64);
  ASSERT_EQ(put.known, WorkKnown::kTold);
  EXPECT_EQ(put.work.read_bytes, 8 * 8 + 2 * 60 * 4);
  EXPECT_EQ(put.work.write_bytes, 60 * 4);
  EXPECT_EQ(work("aten::index", {"[[10,20,4],[]]", R"(["float",""])"}).known, WorkKnown::kNoShapes);
}

TEST(LookupWork, BagsAreSums) {
  // 3 bags of together 7 rows of 4 floats, from a table of 100.
  const std::string types =
      R"(["float","long int","long int","Scalar","Scalar","Scalar","","Scalar","Scalar"])";
  const auto bags = [&](const char* last) {
    return work("aten::_embedding_bag",
                {"[[100,4],[7],[3],[],[],[],[],[],[]]", types,
                 R"(["","","","False","0","False","",")" + std::string(last) + R"(","-1"])"});
  };
  EXPECT_EQ(bags("False").work.flop, 28);
  EXPECT_EQ(bags("False").work.read_bytes, 7 * 8 + 3 * 8 + 28 * 4);
  EXPECT_EQ(bags("False").work.write_bytes, 3 * 4 * 4);
  EXPECT_EQ(bags("True").work.write_bytes, 2 * 4 * 4);
  EXPECT_EQ(bags("").known, WorkKnown::kNoValues);
  const WorkAnswer back = work(
      "aten::_embedding_bag_dense_backward",
      {"[[3,4],[7],[7],[3],[0],[],[],[],[],[]]",
       R"(["float","long int","long int","long int","long int"])", R"(["","","","","","100"])"});
  ASSERT_EQ(back.known, WorkKnown::kTold);
  EXPECT_EQ(back.work.read_bytes, 12 * 4 + 2 * 7 * 8);
  // The table of zeros is another call's; rows of it that no bag has are not touched.
  EXPECT_EQ(back.work.write_bytes, 7 * 4 * 4);
  const WorkAnswer table =
      work("aten::embedding_dense_backward",
           {"[[7,4],[7],[],[],[]]", R"(["float","long int"])", R"(["","","5","-1","False"])"});
  ASSERT_EQ(table.known, WorkKnown::kTold);
  EXPECT_EQ(table.work.write_bytes, 5 * 4 * 4);  // no more rows than it has
}

TEST(LookupWork, ALossWritesOnePlaceForEachTarget) {
  const WorkAnswer back = work("aten::nll_loss_backward",
                               {"[[],[6,50],[6],[],[],[],[]]",
                                R"(["float","float","long int","","Scalar","Scalar","float"])"});
  ASSERT_EQ(back.known, WorkKnown::kTold);
  EXPECT_EQ(back.work.read_bytes, 4 + 6 * 8);
  EXPECT_EQ(back.work.write_bytes, 6 * 4);
}

TEST(LookupWork, TheLargestComeWithTheirPlaces) {
  const WorkAnswer top = work(
      "aten::topk", {"[[6,50],[],[],[],[]]", R"(["float"])", R"(["","5","-1","True","True"])"});
  ASSERT_EQ(top.known, WorkKnown::kTold);
  EXPECT_EQ(top.work.read_bytes, 300 * 4);
  EXPECT_EQ(top.work.write_bytes, 30 * (4 + 8));
  EXPECT_EQ(work("aten::sort", {"[[6,50]]", R"(["float"])"}).work.write_bytes, 300 * 12);
}

// ---- pooling and interpolation ------------------------------------------------------------------

TEST(PoolingWork, FirstPoolOfResNet) {
  // 3 x 3 windows, two apart, one of padding: (112 + 2 - 3) / 2 + 1 = 56, rounded down.
  const std::string types = R"(["c10::BFloat16"])";
  const auto pool = [&](const char* size, const char* up) {
    return work("aten::max_pool2d_with_indices",
                {"[[10,64," + std::string(size) + "],[],[],[],[],[]]", types,
                 R"(["","[3, 3]","[2, 2]","[1, 1]","[1, 1]",")" + std::string(up) + R"("])"});
  };
  const WorkAnswer down = pool("112,112", "False");
  ASSERT_EQ(down.known, WorkKnown::kTold);
  const double results = 10.0 * 64 * 56 * 56;
  EXPECT_EQ(down.work.flop, 9 * results);
  EXPECT_EQ(down.work.read_bytes, 10.0 * 64 * 112 * 112 * 2);
  EXPECT_EQ(down.work.write_bytes, results * (2 + 8));
  // Rounded up: a 57th window begins at 112, inside the input and its padding before it.
  EXPECT_EQ(pool("112,112", "True").work.write_bytes, 10.0 * 64 * 57 * 57 * (2 + 8));
  EXPECT_EQ(
      work("aten::max_pool2d_with_indices", {"[[10,64,112,112],[],[],[],[],[]]", types}).known,
      WorkKnown::kNoValues);
}

TEST(PoolingWork, WindowsAdjoinIfThereIsNoStride) {
  const WorkAnswer mean = work("aten::avg_pool2d", {"[[2,3,8,8],[],[],[],[],[],[]]", R"(["float"])",
                                                    R"(["","[2]","[]","[0]","False","True",""])"});
  ASSERT_EQ(mean.known, WorkKnown::kTold);
  EXPECT_EQ(mean.work.write_bytes, 2 * 3 * 4 * 4 * 4);
  const WorkAnswer adaptive =
      work("aten::_adaptive_avg_pool2d", {"[[2,3,8,8],[]]", R"(["float"])", R"(["","[1, 1]"])"});
  EXPECT_EQ(adaptive.work.flop, 2 * 3 * 64);
  EXPECT_EQ(adaptive.work.write_bytes, 2 * 3 * 4);
}

TEST(PoolingWork, BackwardNeedsNoValues) {
  const std::string types = R"(["float","float","","","","","","long int"])";
  const WorkAnswer back = work("aten::max_pool2d_with_indices_backward",
                               {"[[2,4,3,3],[2,4,6,6],[],[],[],[],[],[2,4,3,3]]", types});
  ASSERT_EQ(back.known, WorkKnown::kTold);
  EXPECT_EQ(back.work.read_bytes, 72 * (4 + 8));
  EXPECT_EQ(back.work.write_bytes, 288 * 4);
  const WorkAnswer mean =
      work("aten::avg_pool2d_backward", {"[[2,4,3,3],[2,4,6,6]]", R"(["float","float"])"});
  EXPECT_EQ(mean.work.read_bytes, 72 * 4);
}

TEST(PoolingWork, InterpolationReadsNoMoreThanItsTaps) {
  const std::string bf16 = R"(["c10::BFloat16"])";
  const WorkAnswer nearest =
      work("aten::upsample_nearest2d", {"[[1,512,32,32],[],[]]", bf16, R"(["","","[2., 2.]"])"});
  ASSERT_EQ(nearest.known, WorkKnown::kTold);
  EXPECT_EQ(nearest.work.read_bytes, 512.0 * 32 * 32 * 2);
  EXPECT_EQ(nearest.work.write_bytes, 512.0 * 64 * 64 * 2);
  // Going down to 2 x 2: four elements of the input for each result.
  const WorkAnswer small = work("aten::upsample_bilinear2d",
                                {"[[1,3,100,100],[],[],[]]", bf16, R"(["","[2, 2]","False",""])"});
  EXPECT_EQ(small.work.read_bytes, 3 * 4 * 4 * 2);
  EXPECT_EQ(small.work.flop, 3 * 4 * 8);
  const WorkAnswer back =
      work("aten::upsample_bilinear2d_backward",
           {"[[1,3,4,4],[],[],[]]", bf16, R"(["","[4, 4]","[1, 3, 2, 2]","False"])"});
  ASSERT_EQ(back.known, WorkKnown::kTold);
  EXPECT_EQ(back.work.read_bytes, 48 * 2);
  EXPECT_EQ(back.work.write_bytes, 12 * 2);
}

TEST(PoolingWork, AGridHasTheTapsOfItsMode) {
  const auto sampled = [](const std::string& values) {
    return work("aten::grid_sampler_2d",
                {"[[1,2,9,9],[1,3,1,2],[],[],[]]",
                 R"(["float","float","Scalar","Scalar","Scalar"])", values});
  };
  constexpr double kResults = 2 * 3;
  EXPECT_EQ(sampled(R"(["","","0","0","False"])").work.flop, 2 * 4 * kResults);
  EXPECT_EQ(sampled(R"(["","","1","0","False"])").work.flop, 0);
  EXPECT_EQ(sampled(R"(["","","1","0","False"])").work.read_bytes, (6 + kResults) * 4);
  EXPECT_EQ(sampled(R"(["","","2","0","False"])").work.flop, 2 * 16 * kResults);
  EXPECT_EQ(sampled("").known, WorkKnown::kNoValues);
}

// ---- experts ------------------------------------------------------------------------------------

TEST(ExpertsWork, GroupedProductsReadTheExpertsThatRowsReach) {
  const std::string types = R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn"])";
  const WorkAnswer few = work("_C::cutlass_moe_mm", {"[[4,64],[4,32],[16,64,32]]", types});
  ASSERT_EQ(few.known, WorkKnown::kTold);
  EXPECT_EQ(few.work.flop, 2.0 * 4 * 64 * 32);
  EXPECT_EQ(few.work.read_bytes, 4 * 32 + 4 * 64 * 32);
  EXPECT_EQ(few.work.write_bytes, 4 * 64 * 2);
  const WorkAnswer packed = work("_C::cutlass_moe_mm", {"[[4,64],[4,32],[16,64,16]]", types});
  EXPECT_EQ(packed.known, WorkKnown::kNotCovered);
}

TEST(ExpertsWork, SortingReadsAndWritesItsArguments) {
  const WorkAnswer align =
      work("_moe_C::moe_align_block_size",
           {"[[32,4],[],[],[640],[40],[1]]", R"(["int","Scalar","Scalar","int","int","int"])"});
  ASSERT_EQ(align.known, WorkKnown::kTold);
  EXPECT_EQ(align.work.bytes(), 128 * 4 + (640 + 40 + 1) * 4);
  const WorkAnswer choice = work("_moe_C::topk_softmax", {"[[32,4],[32,4],[32,4],[32,60]]",
                                                          R"(["float","int","int","float"])"});
  EXPECT_EQ(choice.work.bytes(), 32 * 60 * 4 + 3 * 128 * 4);
  const WorkAnswer older = work("sgl_kernel::topk_softmax", {"[[32,4],[32,4],[32,4],[32,60]]",
                                                             R"(["float","int","int","float"])"});
  EXPECT_EQ(older.work.bytes(), choice.work.bytes());
  const WorkAnswer newer =
      work("sgl_kernel::topk_softmax",
           {"[[32,4],[32,4],[32,60],[]]", R"(["float","int","float","Scalar"])"});
  EXPECT_EQ(newer.work.bytes(), 32 * 60 * 4 + 2 * 128 * 4);
  EXPECT_EQ(work("vllm::moe_forward", {"[[32,2880],[32,32]]"}).known, WorkKnown::kNotCovered);
}

// ---- FBGEMM -------------------------------------------------------------------------------------

// A lookup with these tables, rows in all, and values of the widths (or none).
WorkAnswer tables(const std::string& count, const std::string& offsets, const std::string& widths) {
  const std::string dims = "[[0],[96000],[0],[0,0],[" + count + "],[" + count +
                           "],[2],[],[],[2],[],[600],[" + offsets +
                           "],[],[],[],[0],[],[],[],[1000],[0]]";
  const std::string types =
      R"(["float","c10::Half","c10::Half","c10::Half","int","long","int","Scalar","Scalar","long",)"
      R"("Scalar","long","long","Scalar","","","int","Scalar","Scalar","Scalar","float","float"])";
  return work("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function",
              {dims, types, widths.empty() ? "" : R"(["","","","","","","",)" + widths + "]"});
}

TEST(FbgemmWork, SingleTableHasTheWidthOfItsRows) {
  const WorkAnswer one = tables("1", "11", "");  // 96,000 elements in 1,000 rows; 10 bags
  ASSERT_EQ(one.known, WorkKnown::kBounds);
  EXPECT_EQ(one.work.flop, 600 * 96);
  EXPECT_EQ(one.work.read_bytes, 600 * 8 + 11 * 8 + 600 * 96 * 2);
  EXPECT_EQ(one.work.write_bytes, 10 * 96);  // quantized to bytes
  EXPECT_EQ(one.most.write_bytes, 10 * 96 * 4);
}

TEST(FbgemmWork, SeveralTablesAreKnownIfAllAreEquallyWide) {
  EXPECT_EQ(tables("3", "31", "").known, WorkKnown::kNoValues);
  EXPECT_EQ(tables("3", "31", R"("192","128")").known, WorkKnown::kNoValues);
  const WorkAnswer equal = tables("3", "31", R"("192","64","","","","","0")");
  ASSERT_EQ(equal.known, WorkKnown::kBounds);
  EXPECT_EQ(equal.work.read_bytes, 600 * 8 + 31 * 8 + 600 * 64 * 2);
  EXPECT_EQ(equal.most.write_bytes, 30 * 64 * 4);
  // Not pooled: a row for each index, and nothing is summed.
  const WorkAnswer rows = tables("3", "31", R"("192","64","","","","","2")");
  ASSERT_EQ(rows.known, WorkKnown::kBounds);
  EXPECT_EQ(rows.most.write_bytes, 600 * 64 * 4);
  EXPECT_EQ(rows.work.flop, 0);
  EXPECT_EQ(tables("3", "31", R"("192","64")").known, WorkKnown::kNoValues);
}

// As a public trace of a recommendation model has it: 122 tables of 7,487,072 values in all, 8,192
// bags each, 15,807,216 indices, and a gradient of 8,720 values a bag.
constexpr const char* kManyTables =
    "[[0],[7487072],[0],[0,0],[122],[122],[123],[],[],[123],[],[15807216],[999425],[],[],[],[0],[],"
    "[],"
    "[],[90837],[0]]";
constexpr const char* kManyTypes =
    R"(["float","float","float","float","int","long","int","Scalar","Scalar","long","Scalar","long",)"
    R"("long","Scalar","","","int","Scalar","Scalar","Scalar","float","float"])";

TEST(FbgemmWork, TheGradientBracketsALookupInManyTables) {
  const OpInputs lookup = read_op_inputs(kManyTables, kManyTypes, "", "");
  const OpInputs node = read_op_inputs("[[8192,8720]]", R"(["float"])", "", "");
  EnclosingOp around;
  around.paired = &node;
  const std::string_view op = "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function";
  const WorkAnswer told = operator_work(op, lookup, around);
  ASSERT_EQ(told.known, WorkKnown::kBounds);
  const double index_bytes = (15'807'216.0 + 999'425) * 8;
  EXPECT_EQ(told.work.read_bytes, index_bytes + 16);  // at least a row of four
  EXPECT_EQ(told.most.read_bytes, index_bytes + 7'487'072.0 * 4);
  EXPECT_EQ(told.work.write_bytes, 8192.0 * 8720 * 4);
  EXPECT_EQ(told.most.write_bytes, 8192.0 * 8720 * 4);
  EXPECT_EQ(operator_work(op, lookup).known, WorkKnown::kNoValues);
}

TEST(FbgemmWork, ALookupsNodeReadsItsGradientAndWritesRows) {
  const OpInputs lookup = read_op_inputs(kManyTables, kManyTypes, "", "");
  const OpInputs node = read_op_inputs("[[8192,8720]]", R"(["float"])", "", "");
  EnclosingOp around;
  around.paired = &lookup;
  const std::string op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>";
  const WorkAnswer told = operator_work(op, node, around);
  ASSERT_EQ(told.known, WorkKnown::kBounds);
  const double read = 8192.0 * 8720 * 4 + (15'807'216.0 + 999'425) * 8;
  EXPECT_EQ(told.work.read_bytes, read + 16);
  EXPECT_EQ(told.work.write_bytes, 16);
  // Every row at most, and its state.
  EXPECT_EQ(told.most.read_bytes, read + 7'487'072.0 * 4 + 90'837 * 4);
  EXPECT_EQ(told.most.write_bytes, 7'487'072.0 * 4 + 90'837 * 4);
  EXPECT_EQ(operator_work(op, node).known, WorkKnown::kNoValues);
  const std::string adam = "torch::autograd::CppNode<SplitLookupFunction_adam_Op>";
  EXPECT_EQ(operator_work(adam, node, around).known, WorkKnown::kNotCovered);
}

// One table: its width is told by its rows, its result's type by the gradient.
TEST(FbgemmWork, GradientShowsTheResultsType) {
  const OpInputs lookup = read_op_inputs(
      "[[0],[96000],[0],[0,0],[1],[1],[2],[],[],[2],[],[600],[11],[],[],[],[0],[],[],[],[1000],[0]"
      "]",
      kManyTypes, "", "");
  const OpInputs node = read_op_inputs("[[10,96]]", R"(["c10::Half"])", "", "");
  EnclosingOp around;
  around.paired = &node;
  const WorkAnswer told = operator_work(
      "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function", lookup, around);
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.read_bytes, (600 + 11) * 8 + 600 * 96 * 4);
  EXPECT_EQ(told.work.write_bytes, 10 * 96 * 2);
}

TEST(FbgemmWork, PermutedValuesAreKnownByTheirSum) {
  const std::string dims = "[[3],[2,10],[50],[],[]]";
  const std::string types = R"(["int","int","long int","","Scalar"])";
  const WorkAnswer told =
      work("fbgemm::permute_2D_sparse_data", {dims, types, R"(["","","","","70"])"});
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.read_bytes, 3 * 4 + 20 * 4 + 50 * 8);
  EXPECT_EQ(told.work.write_bytes, 30 * 4 + 70 * 8);
  EXPECT_EQ(work("fbgemm::permute_2D_sparse_data", {dims, types}).known, WorkKnown::kNoValues);
}

TEST(FbgemmWork, QuantizedValuesAreOneByte) {
  const WorkAnswer to = work("fbgemm::FloatToHFP8Quantized", {"[[100],[],[],[]]", R"(["float"])"});
  EXPECT_EQ(to.work.bytes(), 100 * 4 + 100);
  const WorkAnswer from =
      work("fbgemm::HFP8QuantizedToFloat", {"[[100],[],[]]", R"(["unsigned char"])"});
  EXPECT_EQ(from.work.bytes(), 100 + 100 * 4);
}

TEST(FbgemmWork, BucketsHaveAsManyLengthsPerPart) {
  const WorkAnswer told = work("fbgemm::block_bucketize_sparse_features",
                               {"[[20],[100],[],[],[4],[],[]]", R"(["int","int","","","int"])",
                                R"(["","","True","False","","8",""])"});
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.read_bytes, 20 * 4 + 100 * 4 + 4 * 4);
  EXPECT_EQ(told.work.write_bytes, 8 * 20 * 4 + 2 * 100 * 4);
}

// ---- other frameworks' operators, from their signatures ----------------------------------------

// vLLM's result [64, 4096] of eight bits from 16, and the scale.
TEST(OtherFrameworks, QuantizationReadsWideAndWritesNarrow) {
  const WorkAnswer told =
      work("_C::static_scaled_fp8_quant",
           {"[[64,4096],[64,4096],[1]]", R"(["c10::Float8_e4m3fn","c10::BFloat16","float"])"});
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.read_bytes, 64 * 4096 * 2 + 4);
  EXPECT_EQ(told.work.write_bytes, 64 * 4096);
  // A norm before it, with the residual of its input in place: 64 scales.
  const WorkAnswer norm = work(
      "_C::rms_norm_dynamic_per_token_quant",
      {"[[64,4096],[64,4096],[4096],[64,1],[],[],[64,4096]]",
       R"(["c10::Float8_e4m3fn","c10::BFloat16","c10::BFloat16","float","Scalar","","c10::BFloat16"])"});
  ASSERT_EQ(norm.known, WorkKnown::kTold);
  EXPECT_EQ(norm.work.read_bytes, 64 * 4096 * 2 * 2 + 4096 * 2);
  EXPECT_EQ(norm.work.write_bytes, 64 * 4096 * 3 + 64 * 4);
}

TEST(OtherFrameworks, NormsOfFlashInferAndLiger) {
  const WorkAnswer in_place = work("flashinfer::fused_add_rmsnorm",
                                   {"[[32,4096],[32,4096],[4096],[],[]]",
                                    R"(["c10::Half","c10::Half","c10::Half","Scalar",""])"});
  ASSERT_EQ(in_place.known, WorkKnown::kTold);
  EXPECT_EQ(in_place.work.read_bytes, (2 * 32 * 4096 + 4096) * 2);
  EXPECT_EQ(in_place.work.write_bytes, 2 * 32 * 4096 * 2);
  const WorkAnswer liger = work("LigerRMSNormFunction",
                                {"[[4,512,2048],[2048]]", R"(["c10::BFloat16","c10::BFloat16"])"});
  ASSERT_EQ(liger.known, WorkKnown::kTold);
  EXPECT_EQ(liger.work.bytes(), (2 * 4 * 512 * 2048 + 2048) * 2);
}

// 16 rows of 4,096 with 11,008 columns of four bits: [k / 16, 2 n] words of 32 bits in Marlin's
// order, scales for each 128.
TEST(OtherFrameworks, PackedWeightsAreKnownByTheirScales) {
  const double flop = 2.0 * 16 * 4096 * 11008;
  const double bytes = 16 * 4096 * 2 + 4096.0 * 11008 / 2 + 32 * 11008 * 2 + 16 * 11008 * 2;
  const WorkAnswer first =
      work("_C::gptq_marlin_gemm",
           {"[[16,4096],[256,22016],[32,11008],[0],[0],[1376],[],[],[],[],[]]",
            R"(["c10::Half","int","c10::Half","int","int","int","","","","",""])"});
  ASSERT_EQ(first.known, WorkKnown::kTold);
  EXPECT_EQ(first.work.flop, flop);
  EXPECT_EQ(first.work.bytes(), bytes);
  // Later versions take an optional result and a bias before.
  const WorkAnswer later =
      work("_C::gptq_marlin_gemm", {"[[16,4096],[],[256,22016],[],[32,11008],[]]",
                                    R"(["c10::Half","","int","","c10::Half",""])"});
  ASSERT_EQ(later.known, WorkKnown::kTold);
  EXPECT_EQ(later.work.bytes(), bytes);
  // Zeros stand between, as integers.
  const WorkAnswer awq =
      work("_C::awq_gemm", {"[[16,4096],[4096,1376],[32,11008],[32,1376],[]]",
                            R"(["c10::Half","int","c10::Half","int","Scalar"])"});
  ASSERT_EQ(awq.known, WorkKnown::kTold);
  EXPECT_EQ(awq.work.bytes(), bytes);
  const WorkAnswer torch =
      work("aten::_weight_int4pack_mm", {"[[16,4096],[1376,32,32,4],[],[32,11008,2]]",
                                         R"(["c10::BFloat16","int","Scalar","c10::BFloat16"])"});
  ASSERT_EQ(torch.known, WorkKnown::kTold);
  EXPECT_EQ(torch.work.flop, flop);
  EXPECT_EQ(torch.work.bytes(), bytes + 32 * 11008 * 2);
  // Bytes that are those of no bits: not as this knows it.
  EXPECT_EQ(work("_C::awq_gemm", {"[[16,4096],[4096,1300],[32,11008],[32,1376],[]]",
                                  R"(["c10::Half","int","c10::Half","int","Scalar"])"})
                .known,
            WorkKnown::kNotCovered);
}

TEST(OtherFrameworks, BitsAndBytes) {
  const WorkAnswer vector =
      work("bitsandbytes::gemv_4bit",
           {"[[1,1,4096],[22544384,1],[],[704512],[16],[]]",
            R"(["c10::BFloat16","unsigned char","","float","float","Scalar"])"});
  ASSERT_EQ(vector.known, WorkKnown::kTold);
  EXPECT_EQ(vector.work.flop, 2.0 * 4096 * 11008);
  EXPECT_EQ(vector.work.bytes(), 4096 * 2 + 22'544'384.0 + 704'512 * 4 + 11008 * 2);
  const WorkAnswer eight = work("bitsandbytes::int8_linear_matmul",
                                {"[[2,8,4096],[1024,4096]]", R"(["signed char","signed char"])"});
  ASSERT_EQ(eight.known, WorkKnown::kTold);
  EXPECT_EQ(eight.work.flop, 2.0 * 16 * 4096 * 1024);
  EXPECT_EQ(eight.work.write_bytes, 16 * 1024 * 4);
}

// xFormers' rows of tokens [1, tokens, heads, d]: two sequences of 100 queries each in one row are
// not one of 200.
TEST(OtherFrameworks, AttentionOfXFormers) {
  const std::string_view op = "xformers::efficient_attention_forward_cutlass";
  const std::string types =
      R"(["c10::Half","c10::Half","c10::Half","","int","int","Scalar","Scalar","Scalar","Scalar"])";
  const WorkAnswer two =
      work(op, {"[[1,200,8,64],[1,200,8,64],[1,200,8,64],[],[3],[3],[],[],[],[]]", types,
                R"(["","","","","","","100","100","0.","1"])"});
  ASSERT_EQ(two.known, WorkKnown::kTold);
  EXPECT_EQ(two.work.flop, 4.0 * 2 * 8 * (100 * 101 / 2) * 64);
  const WorkAnswer rows = work(op, {"[[2,100,8,64],[2,100,8,64],[2,100,8,64],[],[],[],[],[],[],[]]",
                                    types, R"(["","","","","","","","","0.","0"])"});
  ASSERT_EQ(rows.known, WorkKnown::kTold);
  EXPECT_EQ(rows.work.flop, 4.0 * 2 * 8 * 100 * 100 * 64);
  // Lengths that differ: within bounds, as those of others.
  const WorkAnswer mixed =
      work(op, {"[[1,150,8,64],[1,150,8,64],[1,150,8,64],[],[3],[3],[],[],[],[]]", types,
                R"(["","","","","","","100","100","0.","0"])"});
  EXPECT_EQ(mixed.known, WorkKnown::kBounds);
  // An older version has no longest key: dropout stands there.
  const WorkAnswer old =
      work(op, {"[[1,150,8,64],[1,150,8,64],[1,150,8,64],[],[3],[3],[],[],[],[]]", types,
                R"(["","","","","","","100","0.","False","1"])"});
  EXPECT_EQ(old.known, WorkKnown::kNotCovered);
}

// ---- convolutions by what came back -------------------------------------------------------------

TEST(ConvolutionWork, GradientOfTheResultShowsItsSizes) {
  const OpInputs conv =
      read_op_inputs("[[32,3,224,224],[64,3,7,7],[]]", R"(["float","float",""])", "", "");
  EnclosingOp around;
  around.result = {32, 64, 112, 112};
  const WorkAnswer told = operator_work("aten::cudnn_convolution", conv, around);
  ASSERT_EQ(told.known, WorkKnown::kTold);
  EXPECT_EQ(told.work.flop, 2.0 * 32 * 64 * 112 * 112 * 3 * 49);
  around.result = {32, 128, 112, 112};  // of another convolution
  EXPECT_EQ(operator_work("aten::cudnn_convolution", conv, around).known, WorkKnown::kNoValues);
}

}  // namespace
}  // namespace assay
