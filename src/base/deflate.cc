#include "base/deflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace assay {
namespace {

constexpr int kLevel = 3;  // ISA-L's best
constexpr size_t kOutputStep = size_t{1} << 20;

}  // namespace

std::string gzip(std::string_view bytes) {
  auto stream = std::make_unique<isal_zstream>();
  auto level_buffer = std::make_unique<uint8_t[]>(ISAL_DEF_LVL3_DEFAULT);
  isal_deflate_init(stream.get());
  stream->level = kLevel;
  stream->level_buf = level_buffer.get();
  stream->level_buf_size = ISAL_DEF_LVL3_DEFAULT;
  stream->gzip_flag = IGZIP_GZIP;
  std::string out;
  size_t used = 0;
  // With these settings isal_deflate has no way to fail: it stops for want of input or of room.
  do {
    if (stream->avail_in == 0) {
      const size_t piece = std::min<size_t>(bytes.size() - used, std::numeric_limits<int>::max());
      stream->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data() + used));
      stream->avail_in = static_cast<uint32_t>(piece);
      used += piece;
      stream->end_of_stream = used == bytes.size() ? 1 : 0;
    }
    const size_t before = out.size();
    out.resize(before + kOutputStep);
    stream->next_out = reinterpret_cast<uint8_t*>(out.data() + before);
    stream->avail_out = kOutputStep;
    isal_deflate(stream.get());
    out.resize(before + kOutputStep - stream->avail_out);
  } while (stream->internal_state.state != ZSTATE_END);
  return out;
}

}  // namespace assay
