#include "base/checksum.h"
#include "ingest/columnar/layout.h"

namespace assay::columnar {
namespace {

// Writes the fields in a fixed order; Take reads them in the same order.
class Put {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void operator()(const T& value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    out_ += text;
  }
  void operator()(const std::optional<int64_t>& value) {
    (*this)(uint8_t{value.has_value()});
    (*this)(value.value_or(0));
  }
  template <typename T, typename Each>
  void list(const std::vector<T>& entries, Each each) {
    (*this)(uint64_t{entries.size()});
    for (const T& entry : entries) each(*this, entry);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Take {
 public:
  explicit Take(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
    requires std::is_arithmetic_v<T>
  void operator()(T& value) {
    std::string_view part = cut(sizeof(value));
    if (part.size() == sizeof(value)) std::memcpy(&value, part.data(), sizeof(value));
  }
  void operator()(bool& value) {
    uint8_t byte = 0;
    (*this)(byte);
    good_ &= byte <= 1;
    value = byte == 1;
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text = cut(size);
  }
  void operator()(std::optional<int64_t>& value) {
    bool told = false;
    int64_t number = 0;
    (*this)(told);
    (*this)(number);
    if (told) value = number;
  }
  template <typename T, typename Each>
  void list(std::vector<T>& entries, Each each) {
    uint64_t size = 0;
    (*this)(size);
    for (uint64_t i = 0; i < size && good_; ++i) each(*this, entries.emplace_back());
  }
  bool finished() const { return good_ && bytes_.empty(); }

 private:
  std::string_view cut(uint64_t size) {
    if (!good_ || size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::string_view bytes_;
  bool good_ = true;
};

// The only list of the fields in block 0. Archive is Put or Take.
template <typename Archive, typename AnyTrace, typename AnyStamp>
void each_field(Archive& archive, AnyTrace& trace, AnyStamp& source) {
  archive(source.path);
  archive(source.bytes);
  archive(source.mtime_ns);
  archive(source.hash);
  archive(source.made_ns);
  archive(trace.source_bytes);
  archive(trace.content_bytes);
  archive.list(trace.threads, [](Archive& a, auto& thread) {
    a(thread.pid);
    a(thread.tid);
    a(thread.name);
  });
  archive.list(trace.streams, [](Archive& a, auto& stream) {
    a(stream.device);
    a(stream.stream);
    a(stream.name);
  });
  archive.list(trace.devices, [](Archive& a, auto& device) {
    a(device.id);
    a(device.name);
    a(device.total_memory_bytes);
    a(device.multiprocessors);
    a(device.warp_size);
    a(device.compute_major);
    a(device.compute_minor);
  });
  archive(trace.distributed.rank);
  archive(trace.distributed.world_size);
  archive(trace.distributed.backend);
  archive.list(trace.metadata, [](Archive& a, auto& entry) {
    a(entry.key);
    a(entry.value);
  });
  archive(trace.counts.events);
  archive(trace.counts.flow_starts);
  archive(trace.counts.flow_ends);
  archive(trace.counts.metadata);
  archive(trace.counts.instants);
  archive(trace.counts.spans);
  archive(trace.whole_microseconds);
  archive(trace.base_time_ns);
}

}  // namespace

std::string encode_info(const Trace& trace, const SourceStamp& source) {
  Put put;
  each_field(put, trace, source);
  put(static_cast<uint8_t>(trace.tracer));
  for (size_t code = 0; code < kImportCodes; ++code) {
    const ImportLog::Entry& entry = trace.log.entry(static_cast<ImportCode>(code));
    put(entry.count);
    put(entry.first_offset);
  }
  return put.take();
}

bool decode_info(std::string_view bytes, Trace& trace, SourceStamp& source) {
  Take take(bytes);
  each_field(take, trace, source);
  uint8_t tracer = 0;
  take(tracer);
  if (tracer > static_cast<uint8_t>(Tracer::kOther)) return false;
  trace.tracer = static_cast<Tracer>(tracer);
  for (size_t code = 0; code < kImportCodes; ++code) {
    ImportLog::Entry entry;
    take(entry.count);
    take(entry.first_offset);
    if (entry.count > 0) {
      trace.log.add(static_cast<ImportCode>(code), entry.first_offset, entry.count);
    }
  }
  return take.finished();
}

uint64_t schema_hash() {
  std::string text;
#define ASSAY_COLUMN(type, name, unit, doc) text += #type " " #name ";";
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  text += #member ":";                          \
  COLUMNS(ASSAY_COLUMN)
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
#undef ASSAY_COLUMN
  for (size_t code = 0; code < kImportCodes; ++code) {
    text += import_code_info(static_cast<ImportCode>(code)).key;
    text += ';';
  }
  return checksum(text.data(), text.size());
}

}  // namespace assay::columnar
