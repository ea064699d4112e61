#include "ingest/bench/units.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "ingest/text/csv_records.h"

namespace assay {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Splits a title into lower-case words without brackets and joining characters; "per" and "/"
// become the word "/".
std::vector<std::string> unit_words_of(const std::string& title) {
  std::string spaced;
  for (const char c : lower_trimmed(title)) {
    constexpr std::string_view kGaps = " _-()[]\t";
    if (c == '/') {
      spaced += " / ";
    } else {
      spaced += kGaps.find(c) == std::string_view::npos ? c : ' ';
    }
  }
  std::vector<std::string> words;
  size_t begin = 0;
  while ((begin = spaced.find_first_not_of(' ', begin)) != std::string::npos) {
    const size_t end = std::min(spaced.find(' ', begin), spaced.size());
    words.push_back(spaced.substr(begin, end - begin));
    if (words.back() == "per") words.back() = "/";
    begin = end;
  }
  return words;
}

double seconds_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kSeconds = {"s", "sec", "secs", "second", "seconds"};
  constexpr std::array<std::string_view, 4> kMinutes = {"min", "mins", "minute", "minutes"};
  constexpr std::array<std::string_view, 5> kHours = {"h", "hr", "hrs", "hour", "hours"};
  if (is_one_of(word, kSeconds)) return 1;
  if (is_one_of(word, kMinutes)) return 60;
  if (is_one_of(word, kHours)) return 3600;
  return word == "day" ? 86400 : word == "ms" ? 1e-3 : 0;
}

bool is_device(std::string_view word) {
  constexpr std::array<std::string_view, 10> kDevices = {
      "gpu", "gpus", "device", "devices", "accelerator", "card", "chip", "npu", "tpu", "xpu"};
  return is_one_of(word, kDevices);
}

bool is_sequence(std::string_view word) {
  constexpr std::array<std::string_view, 8> kSequences = {"user",     "users", "request", "req",
                                                          "sequence", "seq",   "stream",  "query"};
  return is_one_of(word, kSequences);
}

struct Counted {
  double factor = 0;  // 0: not a word for a counted item
  bool requests = false;
  double seconds = 0;  // time unit within the word: "tps"
};

double prefix_of(char letter) { return letter == 'k' ? 1e3 : letter == 'm' ? 1e6 : 1e9; }

Counted counted(std::string_view word) {
  constexpr std::array<std::string_view, 5> kTokens = {"tok", "toks", "token", "tokens", "t"};
  constexpr std::array<std::string_view, 7> kRequests = {"req",     "reqs",  "request", "requests",
                                                         "queries", "query", "prompts"};
  struct Short {
    std::string_view word;
    Counted meaning;
  };
  static constexpr std::array<Short, 8> kShort = {{{"tps", {1, false, 1}},
                                                   {"tpm", {1, false, 60}},
                                                   {"tph", {1, false, 3600}},
                                                   {"rps", {1, true, 1}},
                                                   {"qps", {1, true, 1}},
                                                   {"rpm", {1, true, 60}},
                                                   {"qpm", {1, true, 60}},
                                                   {"rph", {1, true, 3600}}}};
  const auto plain = [&](std::string_view name) -> Counted {
    if (is_one_of(name, kTokens)) return {1, false, 0};
    if (is_one_of(name, kRequests)) return {1, true, 0};
    for (const Short& known : kShort) {
      if (known.word == name) return known.meaning;
    }
    return {};
  };
  Counted out = plain(word);
  if (out.factor > 0 || word.size() < 2) return out;
  const bool prefixed = word[0] == 'k' || word[0] == 'm' || word[0] == 'g';
  if (!prefixed) return out;
  out = plain(word.substr(1));
  out.factor *= prefix_of(word[0]);
  return out;
}

// Parses a title word by word: first the counted item, then the divisors.
class RateReader {
 public:
  explicit RateReader(std::vector<std::string> words) : words_(std::move(words)) {}

  TitleRate read() {
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "/") {
        divided_ = true;
        understood_ &= i + 1 < words_.size() && divide(words_[++i]);
      } else {
        count(i);
      }
    }
    if (!divided_ && !timed_) return {};
    if (!understood_ || !counted_ || !(timed_ || rate_)) return {true, std::nullopt};
    return {true, unit_};
  }

 private:
  bool divide(const std::string& word) {
    if (const double seconds = seconds_of(word); seconds > 0) {
      if (timed_) return false;
      timed_ = true;
      unit_.per_second /= seconds;
      return true;
    }
    unit_.per_device |= is_device(word);
    unit_.per_sequence |= is_sequence(word);
    return is_device(word) || is_sequence(word);
  }

  void count(size_t i) {
    const std::string word = words_[i];
    // "tok_s_gpu" is ambiguous: per GPU, or of all GPUs.
    if (timed_ && (is_device(word) || is_sequence(word))) understood_ = false;
    if (word == "throughput" || word == "thpt") {
      rate_ = true;
      counted_ = true;
      return;
    }
    const Counted what = counted(word);
    if (!(what.factor > 0) || timed_) return;
    counted_ = true;
    unit_.requests = what.requests;
    unit_.per_second = what.factor;
    if (what.seconds > 0) {
      timed_ = true;
      unit_.per_second /= what.seconds;
    } else if (i + 1 < words_.size() && seconds_of(words_[i + 1]) >= 1) {
      words_.insert(words_.begin() + static_cast<ptrdiff_t>(i) + 1, "/");  // "tok_s"
    }
  }

  std::vector<std::string> words_;
  RateUnit unit_;
  bool counted_ = false;
  bool rate_ = false;  // a word is itself a rate
  bool timed_ = false;
  bool divided_ = false;
  bool understood_ = true;
};

}  // namespace

TitleRate rate_of_title(const std::string& title) {
  return RateReader(unit_words_of(title)).read();
}

bool says_minutes(const std::string& title) {
  const std::string lower = lower_trimmed(title);
  return lower.find("minute") != std::string::npos || lower.find("(min") != std::string::npos ||
         lower.find("[min") != std::string::npos;
}

bool names_ratio(const std::string& title) {
  const std::vector<std::string> words = unit_words_of(title);
  return std::find(words.begin(), words.end(), "/") != words.end();
}

}  // namespace assay
