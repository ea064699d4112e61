#include "ingest/chrome/generated_text.h"

#include <algorithm>
#include <cstring>

#include "base/json_string.h"

namespace assay {
namespace {

constexpr size_t kTextChunk = size_t{1} << 16;

ImportLog without_offsets(const ImportLog& log) {
  ImportLog counts;
  for (size_t code = 0; code < kImportCodes; ++code) {
    const uint64_t count = log.entry(static_cast<ImportCode>(code)).count;
    if (count > 0) counts.add(static_cast<ImportCode>(code), -1, count);
  }
  return counts;
}

}  // namespace

Result<Trace> GeneratedChromeText::read_trace(const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(
      Trace trace,
      read_chrome_stream([this](char* dst, size_t n) -> Result<size_t> { return read(dst, n); },
                         options));
  trace.log = without_offsets(trace.log);
  return trace;
}

size_t GeneratedChromeText::read(char* dst, size_t n) {
  if (taken_ == text_.size()) {
    text_.clear();
    taken_ = 0;
    while (!done_ && text_.size() < kTextChunk) {
      if (write_next()) continue;
      text_ += begun_ ? "]}" : R"({"displayTimeUnit":"ns","traceEvents":[]})";
      done_ = true;
    }
  }
  const size_t take = std::min(n, text_.size() - taken_);
  std::memcpy(dst, text_.data() + taken_, take);
  taken_ += take;
  return take;
}

void GeneratedChromeText::begin_row(std::string_view phase, int64_t pid, std::string_view tid) {
  text_ += begun_ ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  begun_ = true;
  text_ += "{\"ph\":\"";
  text_ += phase;
  text_ += "\",\"pid\":" + std::to_string(pid) + ",\"tid\":";
  text_ += tid;
}

void GeneratedChromeText::write_name(std::string_view what, std::string_view name, int64_t pid,
                                     std::string_view tid) {
  begin_row("M", pid, tid);
  text_ += ",\"name\":\"";
  text_ += what;
  text_ += "\",\"args\":{\"name\":";
  append_json_string(name, text_);
  text_ += "}}";
}

void GeneratedChromeText::write_us(std::string_view key, int64_t ns) {
  constexpr uint64_t kPerUs = 1000;
  const uint64_t size =
      ns < 0 ? uint64_t{0} - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const std::string part = std::to_string(kPerUs + size % kPerUs);
  text_ += key;
  if (ns < 0) text_ += '-';
  text_ += std::to_string(size / kPerUs) + "." + part.substr(1);
}

}  // namespace assay
