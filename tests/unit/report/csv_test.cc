// CSV: one table after the other, raw values, records that stay one line, no formulas.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "report/writers/writers.h"
#include "support/report_sample.h"

namespace assay {
namespace {

TEST(ReportCsv, Sample) {
  EXPECT_EQ(write_csv(sample_document()), R"(# document
key,value
schema_version,2
tool,assay
version,1.2.3

# inputs
name,size_bytes
a.json.gz,1572864

# import_log
code,severity,count,text,first_offset
truncated,data_loss,1,the input ends early,17
whole_microseconds,info,1200,times are whole us,

# headline
text
Host-bound: the GPU waits.
Fuse chains first.

# launch.whole
key,value
kernels,1234
tklqt_ns,12345678
il_ns,
device,H200
seed,7

# launch.top_kernels
name,count,mean_ns,share
"gemm, 128",1000,1500.5,0.625
copy,2,2000,0.375
tail,1,,

# tree
depth,name,host_ns
0,aten::linear,3000
1,cudaLaunchKernel,1000

# caveats
code,count
unlinked_kernels,3

# trust_words
text
3 kernels unlinked
)");
}

// The record that a single cell makes, without its line end.
std::string cell(const Value& value) {
  Table table{.key = "t"};
  table.columns = {{"x", "x"}};
  table.rows = {{value}};
  Document document;
  document.sections.push_back({"", "", {table}});
  const std::string csv = write_csv(document);
  const std::string head = "# t\nx\n";
  const std::string record = csv.substr(csv.find(head) + head.size());
  EXPECT_EQ(record.find('\n'), record.size() - 1);
  return record.substr(0, record.size() - 1);
}

TEST(ReportCsv, QuotesWhereItMust) {
  EXPECT_EQ(cell("plain text"), "plain text");
  EXPECT_EQ(cell("a,b"), "\"a,b\"");
  EXPECT_EQ(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(cell(" padded"), "\" padded\"");
  EXPECT_EQ(cell("# table"), "\"# table\"");
  EXPECT_EQ(cell(Value::List{"a", "b, c"}), "\"a; b, c\"");
}

TEST(ReportCsv, TextNeverBecomesAFormula) {
  EXPECT_EQ(cell("=1+1"), "'=1+1");
  EXPECT_EQ(cell("+1"), "'+1");
  EXPECT_EQ(cell("-1"), "'-1");
  EXPECT_EQ(cell("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
  EXPECT_EQ(cell("\u200B=1"), "'=1");
  EXPECT_EQ(cell(Value::List{"=1", "b"}), "'=1; b");
  EXPECT_EQ(cell(-1), "-1");
  EXPECT_EQ(cell(-1.5), "-1.5");
}

TEST(ReportCsv, RecordsStayOneLineAndFreeOfControls) {
  EXPECT_EQ(cell("a\r\nb\n# fake\x1b[2J\u202E"), "a b # fake\uFFFD[2J");
  EXPECT_EQ(cell("bad \xFF"), "bad \uFFFD");
}

TEST(ReportCsv, NumbersAreRawAndRoundTrip) {
  EXPECT_EQ(cell(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(cell(0.1), "0.1");
  EXPECT_EQ(cell(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(cell(5e-324), "5e-324");
  EXPECT_EQ(cell(std::nan("")), "");
  EXPECT_EQ(cell(false), "false");
}

TEST(ReportCsv, PartsPrefixTheirTables) {
  Document document;
  document.parts_key = "ranks";
  document.parts = {{.name = "rank 0\n# x",
                     .items = {{"rank", "rank", 0}},
                     .verdict = {"fine"},
                     .sections = {{"launch", "", {Facts{.items = {{"a", "a", 1}}}}}}}};
  const std::string csv = write_csv(document);
  EXPECT_EQ(csv.substr(csv.find("# ranks")), R"(# ranks.rank 0 # x
key,value
name,rank 0 # x
rank,0

# ranks.rank 0 # x.import_log
code,severity,count,text,first_offset

# ranks.rank 0 # x.headline
text
fine

# ranks.rank 0 # x.launch
key,value
a,1
)");
}

TEST(ReportCsv, InputsMayDiffer) {
  Document document;
  document.inputs = {{"a", {{"x", "x", 1}}}, {"b", {{"y", "y", 2}}}};
  EXPECT_NE(write_csv(document).find("# inputs\nname,x,y\na,1,\nb,,2\n"), std::string::npos);
}

}  // namespace
}  // namespace assay
