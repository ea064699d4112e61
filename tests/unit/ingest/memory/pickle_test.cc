// The machine of pickles: what plain data needs, and nothing that would run.

#include "ingest/memory/pickle.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace assay {
namespace {

using namespace std::string_literals;

const std::string kProto = "\x80\x04"s;

int64_t integer_of(const std::string& opcodes) {
  const std::string bytes = kProto + opcodes + ".";
  const auto document = parse_pickle(bytes);
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  if (!document) return 0;
  EXPECT_EQ(document->values[document->root].kind, PickleKind::kInteger);
  return document->values[document->root].integer;
}

Error error_of(const std::string& bytes) {
  auto document = parse_pickle(bytes);
  EXPECT_FALSE(document);
  return document ? Error{} : document.take_error();
}

TEST(Pickle, ReadsIntegersOfAllWidths) {
  EXPECT_EQ(integer_of("K\xFF"s), 255);
  EXPECT_EQ(integer_of("M\x01\x02"s), 0x201);
  EXPECT_EQ(integer_of("J\xFE\xFF\xFF\xFF"s), -2);
  EXPECT_EQ(integer_of("\x8A\x00"s), 0);
  EXPECT_EQ(integer_of("\x8A\x01\xFF"s), -1);
  EXPECT_EQ(integer_of("\x8B\x02\x00\x00\x00\x00\x80"s), -32768);
  EXPECT_EQ(integer_of("\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80"s),
            std::numeric_limits<int64_t>::min());
  // An address of 64 bits takes nine bytes.
  EXPECT_EQ(static_cast<uint64_t>(integer_of("\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s)),
            uint64_t{1} << 63);
}

TEST(Pickle, FindsTheLastOfAKey) {
  const std::string bytes = kProto + "}(\x8C\x01"s + "aK\x01\x8C\x01"s + "aK\x02u."s;
  const auto document = parse_pickle(bytes);
  ASSERT_TRUE(document);
  const PickleValue& root = document->values[document->root];
  ASSERT_NE(document->find(root, "a"), nullptr);
  EXPECT_EQ(document->find(root, "a")->integer, 2);
  EXPECT_EQ(document->find(root, "b"), nullptr);
}

TEST(Pickle, RecallsWhatWasKept) {
  EXPECT_FALSE(parse_pickle(kProto + "h\x00."s));
  const std::string shared = kProto + "](]\x94h\x00"s + "e."s;
  const auto document = parse_pickle(shared);
  ASSERT_TRUE(document);
  const PickleValue& root = document->values[document->root];
  ASSERT_EQ(root.of.size(), 2u);
  EXPECT_EQ(root.of[0], root.of[1]);
}

TEST(Pickle, RefusesWhateverWouldRun) {
  for (const char code : "cRbio\x81\x82\x83\x84\x92\x93PQ\x97\x98"s) {
    if (code == '\0') continue;
    const Error error = error_of(kProto + "N" + code + std::string(16, 'a'));
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << int{code};
    EXPECT_NE(error.message.find("would run code"), std::string::npos) << int{code};
    EXPECT_EQ(error.offset, 3);
  }
}

TEST(Pickle, EveryCutIsAnErrorWithItsByte) {
  const std::string whole = kProto + "\x95\x12\x00\x00\x00\x00\x00\x00\x00"s + "}(\x8C\x01"s +
                            "aJ\x01\x00\x00\x00\x8C\x01"s + "bG"s + std::string(8, '\0') + "u."s;
  // A frame that is longer than it says is not the machine's matter.
  ASSERT_TRUE(parse_pickle(whole)) << parse_pickle(whole).error().message;
  for (size_t length = 0; length < whole.size(); ++length) {
    const Error error = error_of(whole.substr(0, length));
    EXPECT_EQ(error.code, ErrorCode::kTruncated) << length;
    EXPECT_EQ(error.offset, static_cast<int64_t>(length));
  }
}

TEST(Pickle, RefusesProgramsThatAreNone) {
  const auto format = [](const std::string& opcodes) {
    return error_of(kProto + opcodes).code == ErrorCode::kFormat;
  };
  EXPECT_TRUE(format("."));      // nothing to give
  EXPECT_TRUE(format("NN."));    // two values
  EXPECT_TRUE(format("N(."));    // a mark is open
  EXPECT_TRUE(format("N.N"));    // more behind the end
  EXPECT_TRUE(format("e."));     // no mark
  EXPECT_TRUE(format("(e."));    // no list below the mark
  EXPECT_TRUE(format("N(Ne."));  // no list
  EXPECT_TRUE(
      format("](N\x85"
             "\x86."));            // a tuple that reaches below the mark
  EXPECT_TRUE(format("}(Nu."));    // a key without a value
  EXPECT_TRUE(format("Nq\x05."));  // kept out of order
  EXPECT_TRUE(format("\x94."));    // nothing to keep
  EXPECT_TRUE(format("(t\x8F."));  // a set
  EXPECT_EQ(error_of("\x80\x06N."s).code, ErrorCode::kFormat);
  EXPECT_EQ(error_of("N."s).code, ErrorCode::kFormat);
}

TEST(Pickle, BoundsWhatAFileMayClaim) {
  EXPECT_EQ(error_of(kProto + std::string(20'000, '(')).code, ErrorCode::kUnsupported);
  EXPECT_EQ(error_of(kProto + "X\xFF\xFF\xFF\xFF"s + "a").code, ErrorCode::kTruncated);
  EXPECT_EQ(error_of(kProto + "\x8E"s + std::string(8, '\xFF')).code, ErrorCode::kTruncated);
  EXPECT_EQ(error_of(kProto + "\x8A\x0A"s + std::string(10, '\x01')).code, ErrorCode::kUnsupported);
}

// A list may hold itself: nothing here follows it.
TEST(Pickle, ListThatHoldsItselfEnds) {
  const std::string bytes = kProto + "]\x94h\x00"s + "a."s;
  EXPECT_TRUE(parse_pickle(bytes));
}

}  // namespace
}  // namespace assay
