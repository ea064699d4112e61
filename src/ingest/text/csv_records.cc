#include "ingest/text/csv_records.h"

#include <csv.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kCellGrowsBy = size_t{1} << 20;

// State of libcsv's callbacks. Line numbers are derived from the character that ends each record,
// because libcsv does not report its position.
struct Collector {
  std::vector<CsvRecord> records;
  CsvRecord open;
  int64_t line = 1;
  int last_end = 0;
  bool keep_blank = false;
};

void end_field(void* text, size_t size, void* to) {
  auto* collector = static_cast<Collector*>(to);
  const auto* begin = static_cast<const char*>(text);
  collector->open.cells.emplace_back(begin, size);
}

void end_record(int end, void* to) {
  auto* collector = static_cast<Collector*>(to);
  CsvRecord& open = collector->open;
  const bool second_of_pair = end == '\n' && collector->last_end == '\r' && open.cells.empty();
  collector->last_end = end;
  if (second_of_pair) return;
  open.line = collector->line++;
  for (const std::string& cell : open.cells) {
    collector->line += std::count(cell.begin(), cell.end(), '\n');
  }
  if (collector->keep_blank || !open.cells.empty()) collector->records.push_back(std::move(open));
  open = {};
}

class Parser {
 public:
  explicit Parser(bool keep_blank, char delimiter = ',') {
    csv_init(&parser_, CSV_STRICT | CSV_REPALL_NL);
    // By default a cell grows by 128 bytes; if realloc copies, a cell of 64 MiB takes hours.
    csv_set_blk_size(&parser_, kCellGrowsBy);
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
    collector_.keep_blank = keep_blank;
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Status feed(std::string_view block, const std::string& source) {
    if (offset_ == 0 && block.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      offset_ = static_cast<int64_t>(kByteOrderMark.size());
      block.remove_prefix(kByteOrderMark.size());
    }
    const size_t parsed =
        csv_parse(&parser_, block.data(), block.size(), end_field, end_record, &collector_);
    if (parsed != block.size()) {
      return Error{ErrorCode::kFormat, csv_strerror(csv_error(&parser_)), source,
                   offset_ + static_cast<int64_t>(parsed)};
    }
    offset_ += static_cast<int64_t>(block.size());
    return Ok{};
  }

  std::vector<CsvRecord> finish() {
    csv_fini(&parser_, end_field, end_record, &collector_);
    return std::move(collector_.records);
  }

 private:
  csv_parser parser_;
  Collector collector_;
  int64_t offset_ = 0;
};

}  // namespace

Result<std::vector<CsvRecord>> read_csv_records(const std::string& path, bool keep_blank) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = text_stream(source);
  Parser parser(keep_blank);
  std::array<char, 16384> block;
  for (;;) {
    auto got = read(block.data(), block.size());
    if (!got) {
      Error error = got.take_error();
      error.file = path;
      return error;
    }
    if (*got == 0) break;
    ASSAY_TRY(parser.feed({block.data(), *got}, path));
  }
  return parser.finish();
}

Result<std::vector<CsvRecord>> parse_csv_records(const std::string& text, const std::string& source,
                                                 bool keep_blank, char delimiter) {
  Parser parser(keep_blank, delimiter);
  ASSAY_TRY(parser.feed(text, source));
  return parser.finish();
}

char guess_delimiter(std::string_view text) {
  const size_t begin = text.find_first_not_of("\r\n");
  size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    commas += c == ',' ? 1 : 0;
    semicolons += c == ';' ? 1 : 0;
    tabs += c == '\t' ? 1 : 0;
  }
  if (semicolons > commas && semicolons >= tabs) return ';';
  return tabs > commas ? '\t' : ',';
}

std::string lower_trimmed(std::string_view text) { return lower(trimmed(text)); }

}  // namespace assay
