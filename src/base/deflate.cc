#include "base/deflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>

namespace assay {
namespace {

constexpr int kLevel = 3;  // the best compression of ISA-L
constexpr size_t kOutputStep = size_t{1} << 20;
constexpr size_t kMostInput = size_t{1} << 30;

}  // namespace

struct GzipStream::State {
  isal_zstream stream;
  uint8_t level_buffer[ISAL_DEF_LVL3_DEFAULT];
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.level = kLevel;
  stream.level_buf = state_->level_buffer;
  stream.level_buf_size = ISAL_DEF_LVL3_DEFAULT;
  stream.gzip_flag = IGZIP_GZIP;
}

GzipStream::GzipStream(GzipStream&&) noexcept = default;
GzipStream::~GzipStream() = default;

void GzipStream::write(std::string_view bytes, std::string& out) { run(bytes, false, out); }

void GzipStream::finish(std::string& out) { run({}, true, out); }

void GzipStream::run(std::string_view bytes, bool last, std::string& out) {
  for (; bytes.size() > kMostInput; bytes.remove_prefix(kMostInput)) {
    deflate(bytes.substr(0, kMostInput), false, out);
  }
  deflate(bytes, last, out);
}

// isal_deflate cannot fail with these settings: it stops at the end of the input or of the buffer.
void GzipStream::deflate(std::string_view bytes, bool last, std::string& out) {
  isal_zstream& stream = state_->stream;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  stream.end_of_stream = last ? 1 : 0;
  do {
    const size_t before = out.size();
    out.resize(before + kOutputStep);
    stream.next_out = reinterpret_cast<uint8_t*>(out.data() + before);
    stream.avail_out = kOutputStep;
    isal_deflate(&stream);
    out.resize(before + kOutputStep - stream.avail_out);
  } while (last ? stream.internal_state.state != ZSTATE_END
                : stream.avail_in > 0 || stream.avail_out == 0);
}

std::string gzip(std::string_view bytes) {
  GzipStream stream;
  std::string out;
  stream.run(bytes, true, out);
  return out;
}

}  // namespace assay
