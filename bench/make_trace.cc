// Makes a large trace from a real one: its events again and again, each copy later in time and with
// ids of its own, until the wanted size is reached. Event shapes, names and their frequencies stay
// those of the real trace, which no generator gets right.
//
//   make_trace BASE.json OUT.json --bytes N [--steps K]
//   make_trace BASE.json OUT.json --copies N [--stride-us N] [--steps K]
//
// --bytes stops at the last whole event that fits, --copies after whole copies: the ranks of a job
// have equal numbers of collectives only so, and meet at them where copies begin --stride-us apart
// in all of them.
// --steps K hides the base's own ProfilerStep annotations and adds K that split the whole time
// range evenly, so that the same bytes can be analysed in 10 or in 1,000 iterations.
//
// The base is searched once for the numbers to shift ("ts", "correlation", "External id", flow
// "id"); a copy is then a sequence of memcpy and number printing, at memory speed. The scan is by
// key text, not by a JSON parser: good for what profilers write, one event object after the other.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Shift : uint8_t { kTime, kId };

// An integer in the base's event text: where it is and what it is shifted by per copy.
struct Slot {
  size_t begin;
  size_t end;
  uint64_t value;
  Shift shift;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "make_trace: %s\n", message.c_str());
  std::exit(2);
}

std::string read_file(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) fail(std::string("cannot open ") + path);
  std::string text;
  std::fseek(file, 0, SEEK_END);
  text.resize(static_cast<size_t>(std::ftell(file)));
  std::fseek(file, 0, SEEK_SET);
  if (std::fread(text.data(), 1, text.size(), file) != text.size()) fail("short read");
  std::fclose(file);
  return text;
}

// End of the array that opens at `open`: the position of its closing bracket.
size_t closing_bracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (text[i] == '[' || text[i] == '{') {
      ++depth;
    } else if (text[i] == ']' || text[i] == '}') {
      if (--depth == 0) return i;
    }
  }
  fail("the event array of the base is not closed");
}

void find_slots(std::string_view events, std::string_view key, Shift shift,
                std::vector<Slot>& slots) {
  for (size_t at = events.find(key); at != std::string_view::npos; at = events.find(key, at)) {
    const bool escaped = at > 0 && events[at - 1] == '\\';
    at += key.size();
    while (at < events.size() && (events[at] == ' ' || events[at] == ':')) ++at;
    size_t end = at;
    while (end < events.size() && events[end] >= '0' && events[end] <= '9') ++end;
    uint64_t value = 0;
    if (!escaped && end > at && end - at < 19) {
      std::from_chars(events.data() + at, events.data() + end, value);
      slots.push_back({at, end, value, shift});
    }
    at = end;
  }
}

class Output {
 public:
  explicit Output(const char* path) : file_(std::fopen(path, "wb")) {
    if (!file_) fail(std::string("cannot write ") + path);
    buffer_.reserve(kBufferBytes + (1 << 16));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    flush();
    std::fclose(file_);
  }

  void text(std::string_view part) {
    buffer_.append(part);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void number(uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text({digits, static_cast<size_t>(end - digits)});
  }
  uint64_t bytes() const { return flushed_ + buffer_.size(); }

 private:
  static constexpr size_t kBufferBytes = 1 << 22;

  void flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail("disk full");
    flushed_ += buffer_.size();
    buffer_.clear();
  }

  std::FILE* file_;
  std::string buffer_;
  uint64_t flushed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  uint64_t wanted = 0;
  uint64_t wanted_copies = 0;
  uint64_t steps = 0;
  uint64_t stride_us = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--bytes") == 0) wanted = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--copies") == 0) {
      wanted_copies = std::strtoull(argv[i + 1], nullptr, 10);
    }
    if (std::strcmp(argv[i], "--stride-us") == 0) {
      stride_us = std::strtoull(argv[i + 1], nullptr, 10);
    }
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc < 5 || (wanted == 0) == (wanted_copies == 0)) {
    fail("usage: make_trace BASE.json OUT.json --bytes N | --copies N [--steps K]");
  }
  if (wanted == 0) wanted = UINT64_MAX;

  std::string base = read_file(argv[1]);
  const size_t key = base.find("\"traceEvents\"");
  if (key == std::string::npos) fail("the base has no traceEvents");
  if (steps > 0) {
    constexpr std::string_view kStep = "\"ProfilerStep#";
    for (size_t at = base.find(kStep); at != std::string::npos; at = base.find(kStep, at + 1)) {
      base.replace(at, kStep.size(), "\"ProfilerPart#");
    }
  }
  const size_t open = base.find('[', key);
  const size_t close = closing_bracket(base, open);
  const std::string_view events = std::string_view(base).substr(open + 1, close - open - 1);

  std::vector<Slot> slots;
  find_slots(events, "\"ts\"", Shift::kTime, slots);
  for (const std::string_view id : {"\"correlation\"", "\"External id\"", "\"id\""}) {
    find_slots(events, id, Shift::kId, slots);
  }
  std::sort(slots.begin(), slots.end(),
            [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  uint64_t first_us = UINT64_MAX;
  uint64_t last_us = 0;
  uint64_t id_stride = 1;
  for (const Slot& slot : slots) {
    if (slot.shift == Shift::kTime) {
      first_us = std::min(first_us, slot.value);
      last_us = std::max(last_us, slot.value);
    } else {
      id_stride = std::max(id_stride, slot.value + 1);
    }
  }
  if (first_us > last_us) fail("the base has no times");
  const uint64_t time_stride_us = std::max(stride_us, last_us - first_us + 1000);

  Output out(argv[2]);
  out.text(std::string_view(base).substr(0, open + 1));
  const uint64_t tail = base.size() - close;
  uint64_t copies = 0;
  bool full = false;
  while (!full) {
    size_t at = 0;
    if (copies > 0) out.text(",");
    for (const Slot& slot : slots) {
      // The last copy ends with the last whole event that still fits.
      if (slot.shift == Shift::kTime && out.bytes() + tail >= wanted) {
        const size_t event_end = events.rfind("},", slot.begin);
        if (event_end != std::string_view::npos && event_end + 1 >= at) {
          out.text(events.substr(at, event_end + 1 - at));
          at = events.size();
          full = true;
          break;
        }
      }
      out.text(events.substr(at, slot.begin - at));
      out.number(slot.value + copies * (slot.shift == Shift::kTime ? time_stride_us : id_stride));
      at = slot.end;
    }
    out.text(events.substr(at));
    ++copies;
    full = full || copies == wanted_copies || out.bytes() + tail >= wanted;
  }
  const uint64_t step_us = steps > 0 ? copies * time_stride_us / steps : 0;
  for (uint64_t step = 0; step < steps; ++step) {
    out.text(",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#");
    out.number(step);
    out.text("\",\"pid\":1,\"tid\":1,\"ts\":");
    out.number(first_us + step * step_us);
    out.text(",\"dur\":");
    out.number(step_us);
    out.text("}");
  }
  out.text(std::string_view(base).substr(close));
  std::fprintf(stderr, "%s: %llu bytes, %llu copies\n", argv[2],
               static_cast<unsigned long long>(out.bytes()),
               static_cast<unsigned long long>(copies));
}
