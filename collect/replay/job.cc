#include "collect/replay/job.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace assay::replay {
namespace {

constexpr size_t kMostInputs = 256;
constexpr size_t kMostTensors = 4096;

std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  size_t begin = 0;
  for (;;) {
    const size_t end = line.find('\t', begin);
    fields.push_back(unescaped(line.substr(begin, end - begin)));
    if (end == std::string::npos) return fields;
    begin = end + 1;
  }
}

int64_t integer(const std::string& text) {
  size_t used = 0;
  const int64_t value = std::stoll(text, &used);
  if (used != text.size()) throw std::runtime_error("'" + text + "' is not a whole number");
  return value;
}

// Reads [1, 2] or [[1, 2], [3]]; nothing deeper.
class ShapeReader {
 public:
  explicit ShapeReader(const std::string& text) : text_(text) {}

  Shapes read() {
    Shapes found;
    found.told = true;
    expect('[');
    if (!next_is('[')) {
      found.shapes.push_back(rest_of_array());
    } else {
      found.nested = true;
      do {
        expect('[');
        found.shapes.push_back(rest_of_array());
        if (found.shapes.size() > kMostTensors)
          throw std::runtime_error("a list of too many tensors");
      } while (take(','));
      expect(']');
    }
    skip_space();
    if (at_ != text_.size()) throw std::runtime_error("more than a shape: " + text_.substr(0, 60));
    return found;
  }

 private:
  Shape rest_of_array() {
    Shape shape;
    if (take(']')) return shape;
    do {
      skip_space();
      size_t used = 0;
      shape.push_back(std::stoll(text_.substr(at_, 24), &used));
      at_ += used;
    } while (take(','));
    expect(']');
    return shape;
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw std::runtime_error("no shape: " + text_.substr(0, 60));
  }

  const std::string& text_;
  size_t at_ = 0;
};

Shapes shapes_of(const std::string& text) {
  return text.empty() ? Shapes{} : ShapeReader(text).read();
}

void need(const std::vector<std::string>& fields, size_t count) {
  if (fields.size() != count) throw std::runtime_error("not " + std::to_string(count) + " fields");
}

void take_line(Job& job, const std::vector<std::string>& fields) {
  const std::string& what = fields[0];
  if (what == "entry") {
    need(fields, 6);
    JobEntry entry;
    entry.number = integer(fields[1]);
    entry.op = fields[2];
    entry.elements = integer(fields[3]);
    entry.list_type = fields[4];
    entry.inputs_told = integer(fields[5]) >= 0;
    job.entries.push_back(std::move(entry));
  } else if (what == "input") {
    need(fields, 6);
    if (job.entries.empty()) throw std::runtime_error("an input before any entry");
    if (job.entries.back().inputs.size() >= kMostInputs)
      throw std::runtime_error("too many inputs");
    RecordedInput input;
    input.type = fields[1];
    input.dims = shapes_of(fields[2]);
    input.strides = shapes_of(fields[3]);
    input.value_told = fields[4] == "1";
    input.value = fields[5];
    job.entries.back().inputs.push_back(std::move(input));
  } else {
    need(fields, 2);
    if (what == "warmups")
      job.warmups = integer(fields[1]);
    else if (what == "runs")
      job.runs = integer(fields[1]);
    else if (what == "device")
      job.device = fields[1];
    else if (what == "entry_seconds")
      job.entry_seconds = std::stod(fields[1]);
    else
      throw std::runtime_error("'" + what.substr(0, 40) + "' is unknown");
  }
}

}  // namespace

Job read_job(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || line != "assay-replay-job\t1") {
    throw std::runtime_error(path + ": not a job of this program");
  }
  Job job;
  for (int64_t number = 2; std::getline(file, line); ++number) {
    try {
      take_line(job, fields_of(line));
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (job.warmups < 0 || job.runs < 1) throw std::runtime_error(path + ": no runs");
  return job;
}

}  // namespace assay::replay
