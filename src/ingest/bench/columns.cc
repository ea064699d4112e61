#include "ingest/bench/columns.h"

#include <cmath>

#include "base/decimal.h"
#include "ingest/bench/units.h"
#include "ingest/bench/variant.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

enum class Dimension : uint8_t { kText, kPlain, kSeconds, kMilliseconds, kWatts, kRate };

struct Role {
  const char* name;
  Dimension dimension;
  std::vector<const char*> titles;  // normalised: lower case, one blank between words
};

// Titles in the tools and data sets of docs/formats/bench.md, and plain words.
const std::array<Role, kBenchRoles>& roles() {
  static const std::array<Role, kBenchRoles> kTable{{
      {"hardware",
       Dimension::kText,
       {"hardware", "hw", "gpu", "gpu type", "gpu name", "accelerator", "system", "platform"}},
      {"n",
       Dimension::kPlain,
       {"n", "num of hardware", "devices", "num devices", "gpus", "num gpus", "n gpu", "n gpus",
        "gpu count", "# of accelerators", "tp", "tp size", "tensor parallel size"}},
      {"framework",
       Dimension::kText,
       {"framework", "fw", "engine", "backend", "serving framework", "inference engine"}},
      {"model", Dimension::kText, {"model", "model name", "model id", "model path", "model mlc"}},
      {"variant",
       Dimension::kText,
       {"variant", "parallelism type", "parallelism", "kv cache dtype", "precision", "dtype",
        "quantization", "quantisation", "scenario"}},
      {"len", Dimension::kPlain, {"len", "length", "input output length", "sequence length"}},
      {"ii",
       Dimension::kPlain,
       {"ii", "input length", "input len", "in len", "isl", "input tokens", "prompt length",
        "prompt tokens"}},
      {"oo",
       Dimension::kPlain,
       {"oo", "output length", "output len", "out len", "osl", "output tokens",
        "generated tokens"}},
      {"bb",
       Dimension::kPlain,
       {"bb", "batch", "batch size", "concurrency", "max concurrency", "num concurrent requests"}},
      {"latency",
       Dimension::kSeconds,
       {"latency", "lat", "avg latency", "average latency", "mean latency", "e2e latency",
        "elapsed time"}},
      {"throughput",
       Dimension::kRate,
       {"throughput", "thpt", "total throughput", "total token throughput", "tokens per second",
        "tokens per s", "tokens/s", "tok/s", "throughput tokens per s"}},
      {"out_throughput",
       Dimension::kRate,
       {"out throughput", "output throughput", "output token throughput", "output tokens per s",
        "output tokens per second", "decode throughput"}},
      {"request_throughput",
       Dimension::kPlain,
       {"request throughput", "requests per second", "requests per s", "requests/s", "requests/sec",
        "req per s", "req/s", "req/sec", "rps", "qps", "throughput requests per second"}},
      {"request_rate",
       Dimension::kPlain,
       {"request rate", "arrival rate", "target qps", "target request rate", "offered load"}},
      {"ttft",
       Dimension::kMilliseconds,
       {"ttft", "mean ttft", "time to first token", "silicon ttft"}},
      {"tpot",
       Dimension::kMilliseconds,
       {"tpot", "mean tpot", "time per output token", "silicon tpot"}},
      {"power", Dimension::kWatts, {"power", "avg power", "average power", "mean power"}},
      {"campaign", Dimension::kText, {"campaign", "run id", "workflow run id"}},
      {"date", Dimension::kText, {"date", "measured"}},
  }};
  return kTable;
}

const Role& info(BenchRole role) { return roles()[static_cast<size_t>(role)]; }

struct NamedUnit {
  const char* name;
  double seconds = NAN;
  double watts = NAN;
  double per_second = NAN;
};
constexpr NamedUnit kUnits[] = {
    {"s", 1},
    {"sec", 1},
    {"secs", 1},
    {"second", 1},
    {"seconds", 1},
    {"ms", 1e-3},
    {"msec", 1e-3},
    {"millis", 1e-3},
    {"milliseconds", 1e-3},
    {"us", 1e-6},
    {"\u00b5s", 1e-6},
    {"\u03bcs", 1e-6},
    {"usec", 1e-6},
    {"microseconds", 1e-6},
    {"ns", 1e-9},
    {"nanoseconds", 1e-9},
    {"min", 60},
    {"minutes", 60},
    {"hours", 3600},
    {"w", NAN, 1},
    {"watts", NAN, 1},
    {"mw", NAN, 1e-3},
    {"kw", NAN, 1e3},
    {"tokens/s", NAN, NAN, 1},
    {"tok/s", NAN, NAN, 1},
    {"token/s", NAN, NAN, 1},
    {"tokens/sec", NAN, NAN, 1},
};

// Factor from the named unit to the unit of BenchRow; NaN for a unit of another dimension.
double unit_factor(Dimension dimension, std::string_view name) {
  for (const NamedUnit& unit : kUnits) {
    if (unit.name != name) continue;
    switch (dimension) {
      case Dimension::kSeconds:
        return unit.seconds;
      case Dimension::kMilliseconds:
        return unit.seconds * 1e3;
      case Dimension::kWatts:
        return unit.watts;
      case Dimension::kRate:
        return unit.per_second;
      default:
        return NAN;
    }
  }
  return NAN;
}

// Lower case, words separated by one blank, without brackets: "Latency (ms)" -> "latency ms".
std::string normalised(const std::string& title) {
  std::string words;
  for (const char c : lower_trimmed(title)) {
    const bool gap = c == ' ' || c == '_' || c == '-' || c == '(' || c == ')' || c == '[' ||
                     c == ']' || c == '\t';
    if (!gap) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

std::optional<BenchRole> role_titled(std::string_view words) {
  for (size_t i = 0; i < kBenchRoles; ++i) {
    for (const char* title : roles()[i].titles) {
      if (words == title) return static_cast<BenchRole>(i);
    }
  }
  return std::nullopt;
}

// Removes the commas of "1,234,567.8". Returns other texts unchanged.
std::string without_thousands(const std::string& text) {
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits;
  size_t since_comma = 0;
  bool seen = false;
  for (size_t i = 0; i < point; ++i) {
    if (text[i] != ',') {
      digits += text[i];
      ++since_comma;
      continue;
    }
    if (seen ? since_comma != 3 : since_comma == 0 || since_comma > 3) return text;
    seen = true;
    since_comma = 0;
  }
  if (seen && since_comma != 3) return text;
  return digits + text.substr(point);
}

}  // namespace

bool is_text_role(BenchRole role) { return info(role).dimension == Dimension::kText; }

std::string_view bench_role_name(BenchRole role) { return info(role).name; }

std::optional<BenchRole> bench_role_by_name(const std::string& name) {
  const std::string wanted = lower_trimmed(name);
  for (size_t i = 0; i < kBenchRoles; ++i) {
    if (wanted == roles()[i].name) return static_cast<BenchRole>(i);
  }
  return role_titled(normalised(name));
}

std::string bench_role_names() {
  std::string names;
  for (const Role& role : roles()) names += (names.empty() ? "" : ", ") + std::string(role.name);
  return names;
}

namespace {

bool is_rate(BenchRole role) {
  return role == BenchRole::kThroughput || role == BenchRole::kOutThroughput ||
         role == BenchRole::kRequests;
}

// The factor of the unit that ends a title, if it is of this dimension.
double last_unit(Dimension dimension, const std::string& title) {
  const std::string words = normalised(title);
  const size_t blank = words.rfind(' ');
  if (blank == std::string::npos) return NAN;
  const std::string name = words.substr(blank + 1);
  if (name == "min" && !says_minutes(title)) return NAN;
  return unit_factor(dimension, name);
}

bool is_time(Dimension dimension) {
  return dimension == Dimension::kSeconds || dimension == Dimension::kMilliseconds;
}

// Parses a rate with a unit, such as "Throughput (ktok/s/GPU)".
std::optional<TitleMeaning> meaning_of_rate(const std::string& title, const std::string& words) {
  const TitleRate rate = rate_of_title(title);
  if (!rate.unit || rate.unit->per_sequence) return std::nullopt;
  for (size_t blank = words.find(' '); blank != std::string::npos;
       blank = words.find(' ', blank + 1)) {
    const auto role = role_titled(std::string_view(words).substr(0, blank));
    if (!role || !is_rate(*role)) continue;
    const bool requests = rate.unit->requests;
    if (requests && *role == BenchRole::kOutThroughput) return std::nullopt;
    if (!requests && *role == BenchRole::kRequests) return std::nullopt;
    return TitleMeaning{requests ? BenchRole::kRequests : *role, rate.unit->per_second,
                        rate.unit->per_device};
  }
  return std::nullopt;
}

Error refused_title(BenchRole role, const std::string& title, const std::string& why) {
  return Error{ErrorCode::kInvalidArgument,
               "--columns " + std::string(bench_role_name(role)) + "=" + title + ": " + why, "", -1};
}

Result<MappedColumn> mapped_rate(BenchRole role, const std::string& title) {
  const TitleRate rate = rate_of_title(title);
  if (rate.names_one && !rate.unit) {
    return refused_title(role, title,
                         "its unit is not understood; tokens or requests (k, M) per s, min or h, "
                         "also per GPU or per user, are");
  }
  if (!rate.unit) {
    if (std::isnan(last_unit(Dimension::kSeconds, title)) &&
        std::isnan(last_unit(Dimension::kWatts, title))) {
      const auto named = role_titled(normalised(title));
      const bool requests = named == BenchRole::kRequests && role == BenchRole::kThroughput;
      return MappedColumn{requests ? BenchRole::kRequests : role, {}};
    }
    return refused_title(role, title, "the title names a unit of something else");
  }
  const RateUnit& unit = *rate.unit;
  if (unit.requests != (role == BenchRole::kRequests) &&
      !(unit.requests && role == BenchRole::kThroughput)) {
    return refused_title(role, title,
                         unit.requests ? "the title says that requests are counted, not tokens"
                                       : "the title says that tokens are counted, not requests");
  }
  return MappedColumn{unit.requests ? BenchRole::kRequests : role,
                      {-1, unit.per_second, unit.per_device, unit.per_sequence}};
}

Result<MappedColumn> mapped_time(BenchRole role, const std::string& title) {
  const std::string words = normalised(title);
  const double factor = last_unit(info(role).dimension, title);
  const std::string name = words.substr(0, words.rfind(' '));
  if (role_titled(words) == role || (!std::isnan(factor) && role_titled(name) == role))
    return MappedColumn{role, {-1, std::isnan(factor) ? 1 : factor}};
  if (names_ratio(title))
    return refused_title(role, title, "the title names a time per something, not a time");
  if (words.size() > 4 && words.ends_with(" min") && !says_minutes(title)) {
    return refused_title(role, title,
                         "'min' may be minutes or the least of several: write '(minutes)', or "
                         "leave the word out");
  }
  if (!std::isnan(last_unit(Dimension::kWatts, title)) || rate_of_title(title).names_one)
    return refused_title(role, title, "the title names a unit of something else");
  return MappedColumn{role, {-1, std::isnan(factor) ? 1 : factor}};
}

}  // namespace

std::optional<TitleMeaning> meaning_of_title(const std::string& title) {
  const std::string words = normalised(title);
  if (const auto role = role_titled(words)) return TitleMeaning{*role, 1};
  if (auto rate = meaning_of_rate(title, words)) return rate;
  const size_t blank = words.rfind(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto role = role_titled(std::string_view(words).substr(0, blank));
  if (!role || is_rate(*role)) return std::nullopt;
  const double factor = last_unit(info(*role).dimension, title);
  if (std::isnan(factor)) return std::nullopt;
  return TitleMeaning{*role, factor};
}

Result<MappedColumn> mapped_column(BenchRole role, const std::string& title) {
  if (is_rate(role)) return mapped_rate(role, title);
  if (is_time(info(role).dimension)) return mapped_time(role, title);
  if (role == BenchRole::kBatch && names_ratio(title)) {
    return refused_title(role, title,
                         "sequences per unit are not a batch size: the one of all devices together "
                         "is needed");
  }
  return MappedColumn{role, {-1, unit_of_title(role, title)}};
}

bool names_unit(BenchRole role, const std::string& title) {
  return !std::isnan(last_unit(info(role).dimension, title));
}

double unit_of_title(BenchRole role, const std::string& title) {
  const double factor = last_unit(info(role).dimension, title);
  return std::isnan(factor) ? 1 : factor;
}

std::optional<CellNumber> parse_cell(const std::string& text, BenchRole role, double factor) {
  const std::string cell = lower_trimmed(text);
  double value = 0;
  if (parse_double(without_thousands(cell), value)) return CellNumber{value * factor, false};
  const size_t unit_at = cell.find_first_not_of("0123456789+-.,e");
  if (unit_at == std::string::npos || unit_at == 0) return std::nullopt;
  const double unit = unit_factor(info(role).dimension, lower_trimmed(cell.substr(unit_at)));
  const std::string digits = without_thousands(lower_trimmed(cell.substr(0, unit_at)));
  if (std::isnan(unit) || !parse_double(digits, value)) return std::nullopt;
  return CellNumber{value * unit, true};
}

void set_number(BenchRow& row, BenchRole role, double value) {
  switch (role) {
    case BenchRole::kDevices:
      row.devices = value;
      break;
    case BenchRole::kLength:
      row.in_len = value;
      row.out_len = value;
      break;
    case BenchRole::kInLen:
      row.in_len = value;
      break;
    case BenchRole::kOutLen:
      row.out_len = value;
      break;
    case BenchRole::kBatch:
      row.batch = value;
      break;
    case BenchRole::kLatency:
      row.latency_s = value;
      break;
    case BenchRole::kThroughput:
      row.tokens_per_s = value;
      break;
    case BenchRole::kOutThroughput:
      row.output_tokens_per_s = value;
      break;
    case BenchRole::kRequests:
      row.requests_per_s = value;
      break;
    case BenchRole::kRequestRate:
      row.request_rate = value;
      break;
    case BenchRole::kTtft:
      row.ttft_ms = value;
      break;
    case BenchRole::kTpot:
      row.tpot_ms = value;
      break;
    case BenchRole::kPower:
      row.power_w = value;
      break;
    default:
      break;
  }
}

void set_text(BenchRow& row, BenchRole role, const std::string& text) {
  switch (role) {
    case BenchRole::kHardware:
      row.hardware = text;
      break;
    case BenchRole::kFramework:
      row.framework = text;
      break;
    case BenchRole::kModel:
      row.model = text;
      break;
    case BenchRole::kVariant:
      row.variant = variant_of_text(text);
      break;
    case BenchRole::kCampaign:
      row.campaign = text;
      break;
    case BenchRole::kDate:
      row.date = text;
      break;
    default:
      break;
  }
}

void OddityLog::note(std::string_view code, int64_t line, bool dropped, std::string_view effect) {
  count_oddity(oddities_, code, line, dropped, effect);
}

void OddityLog::warn(std::string_view code, int64_t line, bool dropped, std::string_view effect) {
  count_oddity(oddities_, code, line, dropped, effect, OddityWeight::kWarning);
}

void OddityLog::merge_into(std::vector<BenchOddity>& oddities) {
  for (BenchOddity& oddity : oddities_) oddities.push_back(std::move(oddity));
  oddities_.clear();
}

Status apply_meta(const std::vector<std::pair<std::string, std::string>>& meta, BenchTable& table) {
  for (const auto& [name, text] : meta) {
    const auto role = bench_role_by_name(name);
    if (!role) {
      return Error{ErrorCode::kInvalidArgument,
                   "--constants " + name + ": no such role; there are " + bench_role_names(), "", -1};
    }
    if (is_text_role(*role)) {
      for (BenchRow& row : table.rows) set_text(row, *role, text);
      continue;
    }
    const auto number = parse_cell(text, *role, 1);
    if (!number) {
      return Error{ErrorCode::kInvalidArgument,
                   "--constants " + name + "=" + text + ": this needs a number", "", -1};
    }
    for (BenchRow& row : table.rows) set_number(row, *role, number->value);
  }
  return Ok{};
}

}  // namespace assay
