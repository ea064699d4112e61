// The yardstick: simdjson's On-Demand parser over a trace, reading the fields that Assay has a
// column for and nothing else. No rows, no interning, no links: what remains is the price of
// getting at the values at all, the way simdjson's own documentation does it (strings unescaped,
// numbers parsed).
//
//   bare_pass TRACE.json [--passes N] [--tokens]
//
// --tokens steps over the values instead of reading them: the floor below the yardstick. Prints one
// line per pass: seconds, MB/s, events, and a checksum that keeps the work alive. The first pass
// includes what a fresh process pays (faulting the file and simdjson's index in), the later ones do
// not.

#include <fcntl.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

namespace ondemand = simdjson::ondemand;

class Reader {
 public:
  explicit Reader(bool tokens_only) : tokens_only_(tokens_only) {}

  uint64_t events() const { return events_; }
  uint64_t check() const { return check_; }

  void read_event(ondemand::object event);

 private:
  void add(uint64_t value) { check_ = check_ * 31 + value; }
  // An array stands for its elements, an object for nothing.
  std::string_view read(ondemand::value value);

  bool tokens_only_;
  uint64_t events_ = 0;
  uint64_t check_ = 0;
};

std::string_view Reader::read(ondemand::value value) {
  if (tokens_only_) {
    const std::string_view token = value.raw_json_token();
    add(token.size() + static_cast<unsigned char>(token.front()));
    return token.front() == '"' ? token.substr(1) : token;
  }
  switch (ondemand::json_type(value.type())) {
    case ondemand::json_type::string: {
      const std::string_view text = value.get_string();
      add(text.size());
      return text;
    }
    case ondemand::json_type::number: {
      const ondemand::number number = value.get_number();
      add(number.is_double()  ? static_cast<uint64_t>(double(number))
          : number.is_int64() ? static_cast<uint64_t>(int64_t(number))
                              : uint64_t(number));
      return {};
    }
    case ondemand::json_type::array:
      for (ondemand::value element : value.get_array()) read(element);
      return {};
    default:
      return {};
  }
}

// A key as written, up to its closing quote; no key of ours has an escape.
std::string_view key_of(ondemand::field& field) {
  const char* key = field.key().raw();
  size_t length = 0;
  while (key[length] != '"') ++length;
  return {key, length};
}

bool wanted_arg(std::string_view key) {
  switch (key.size()) {
    case 4:
      return key == "grid";
    case 5:
      return key == "block" || key == "bytes" || key == "Bytes";
    case 6:
      return key == "stream" || key == "device";
    case 8:
      return key == "graph id";
    case 11:
      return key == "External id" || key == "correlation";
    case 13:
      return key == "shared memory" || key == "Fwd thread id" || key == "graph node id";
    case 15:
      return key == "Sequence number" || key == "Collective name" || key == "Total Allocated";
    case 20:
      return key == "registers per thread";
    default:
      return false;
  }
}

void Reader::read_event(ondemand::object event) {
  bool wants_args = true;
  for (ondemand::field field : event) {
    const std::string_view key = key_of(field);
    ondemand::value value = field.value();
    if (key == "args") {
      ondemand::object args;
      if (!wants_args || value.get_object().get(args) != simdjson::SUCCESS) continue;
      for (ondemand::field arg : args) {
        if (wanted_arg(key_of(arg))) read(arg.value());
      }
    } else if (key == "ph" || key == "name" || key == "pid" || key == "tid" || key == "ts" ||
               key == "dur" || key == "id") {
      read(value);
    } else if (key == "cat") {
      const std::string_view category = read(value);
      // Frames and flows have no argument that a column needs.
      wants_args = !category.starts_with("python_function") && !category.starts_with("ac2g") &&
                   !category.starts_with("fwdbwd");
    }
  }
  ++events_;
}

void pass(ondemand::parser& parser, simdjson::padded_string_view text, Reader& reader) {
  ondemand::document document = parser.iterate(text);
  if (document.type() == ondemand::json_type::array) {
    for (auto event : document.get_array()) reader.read_event(event.get_object());
    return;
  }
  for (ondemand::field field : document.get_object()) {
    if (key_of(field) != "traceEvents") continue;
    for (auto event : field.value().get_array()) reader.read_event(event.get_object());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int passes = 1;
  bool tokens_only = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tokens") == 0) tokens_only = true;
    if (std::strcmp(argv[i], "--passes") == 0 && i + 1 < argc) passes = std::atoi(argv[++i]);
  }
  if (argc < 2 || passes < 1) {
    std::fprintf(stderr, "usage: bare_pass TRACE.json [--passes N] [--tokens]\n");
    return 2;
  }
  const int file = open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) {
    std::fprintf(stderr, "%s: cannot be opened\n", argv[1]);
    return 2;
  }
  const auto size = static_cast<size_t>(status.st_size);
  // simdjson may read past the end: reserve the padding first, then map the file over its start.
  const size_t padded = size + simdjson::SIMDJSON_PADDING;
  ondemand::parser parser;
  for (int i = 0; i < passes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    void* room = mmap(nullptr, padded, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* text = mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
    if (room == MAP_FAILED || text == MAP_FAILED) {
      std::fprintf(stderr, "%s: cannot be mapped\n", argv[1]);
      return 2;
    }
    try {
      const simdjson::padded_string_view view(static_cast<const char*>(text), size, padded);
      Reader reader(tokens_only);
      pass(parser, view, reader);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::printf("%.6f s %.1f MB/s %llu events check %016llx\n", took.count(),
                  static_cast<double>(size) / 1e6 / took.count(),
                  static_cast<unsigned long long>(reader.events()),
                  static_cast<unsigned long long>(reader.check()));
    } catch (const simdjson::simdjson_error& error) {
      std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
      return 2;
    }
    munmap(room, padded);
  }
  return 0;
}
