#include "ingest/power/logs/told.h"

#include "base/ascii.h"
#include "ingest/formats.h"
#include "ingest/power/logs/readers.h"

namespace assay {
namespace {

bool plain(const FileHead& head) { return !head.binary && !head.json && !head.sqlite; }

bool has_header(const FileHead& head, std::string_view name) {
  return std::find(head.header.begin(), head.header.end(), name) != head.header.end();
}

template <typename Fits>
bool any_header(const FileHead& head, const Fits& fits) {
  return plain(head) && std::any_of(head.header.begin(), head.header.end(), fits);
}

// True if one of the first lines fits: a log may begin with output of another program.
template <typename Fits>
bool any_line(const FileHead& head, const Fits& fits) {
  if (!plain(head)) return false;
  bool found = false;
  each_line(head.bytes, [&](std::string_view line, size_t, bool) { found = found || fits(line); });
  return found;
}

bool has_word(const std::vector<std::string_view>& words, std::string_view wanted) {
  return std::any_of(words.begin(), words.end(),
                     [wanted](std::string_view word) { return lower(word) == wanted; });
}

}  // namespace

// The header is "# gpu   pwr gtemp", or "#Date Time gpu" if times were requested.
FormatMatch match_smi_dmon(const FileHead& head) {
  return marks_if(any_line(head, [](std::string_view line) {
    const size_t mark = line.find('#');
    if (mark == std::string_view::npos) return false;
    const auto words = words_of(line.substr(mark + 1), ",");
    return has_word(words, "gpu") && (has_word(words, "pwr") || has_word(words, "pclk"));
  }));
}

FormatMatch match_dcgmi_dmon(const FileHead& head) {
  return marks_if(
      any_line(head, [](std::string_view line) { return has_word(words_of(line), "#entity"); }));
}

FormatMatch match_turbostat(const FileHead& head) {
  return marks_if(
      any_line(head, [](std::string_view line) { return has_word(words_of(line), "pkgwatt"); }));
}

FormatMatch match_metrics_text(const FileHead& head) {
  return marks_if(any_line(head, [](std::string_view line) {
    return line.starts_with("# TYPE ") || line.starts_with("# HELP ") ||
           line.starts_with("DCGM_FI_DEV_");
  }));
}

FormatMatch match_tegrastats(const FileHead& head) {
  return marks_if(any_line(head, [](std::string_view line) {
    const auto words = words_of(line);
    return has_word(words, "gr3d_freq") && has_word(words, "ram");
  }));
}

FormatMatch match_perf_stat(const FileHead& head) {
  return marks_if(any_line(head, [](std::string_view line) {
    return contains(line, "power/energy-") && contains(line, "Joules");
  }));
}

FormatMatch match_powermetrics(const FileHead& head) {
  return marks_if(plain(head) && contains(head.bytes, "Sampled system activity ("));
}

FormatMatch match_amd_smi_csv(const FileHead& head) {
  const bool power = any_header(head, [](std::string_view name) {
    return name == "power_usage" || name == "socket_power" || name == "average_socket_power" ||
           name == "current_socket_power";
  });
  return marks_if(power && has_header(head, "gpu") && !has_header(head, "ts"));
}

FormatMatch match_rocm_smi_csv(const FileHead& head) {
  return marks_if(any_header(
      head, [](std::string_view name) { return contains(name, "graphics package power"); }));
}

FormatMatch match_zeus(const FileHead& head) {
  return marks_if(plain(head) && has_header(head, "start_time") &&
                  has_header(head, "window_name") && has_header(head, "elapsed_time"));
}

FormatMatch match_codecarbon(const FileHead& head) {
  return marks_if(plain(head) && has_header(head, "emissions_rate") &&
                  has_header(head, "timestamp"));
}

FormatMatch match_nvitop(const FileHead& head) {
  return marks_if(any_header(
      head, [](std::string_view name) { return name.ends_with("/power_usage (w)/mean"); }));
}

FormatMatch match_grafana(const FileHead& head) {
  return marks_if(plain(head) && trimmed(head.bytes).starts_with("\"Time\","));
}

FormatMatch match_rapl(const FileHead& head) {
  return marks_if(any_header(head, [](std::string_view name) {
    return contains(name, "energy_uj") || name.starts_with("intel-rapl");
  }));
}

FormatMatch match_prometheus_json(const FileHead& head) {
  return marks_if(head.json && contains(head.bytes, "\"resultType\""));
}

FormatMatch match_amd_smi_json(const FileHead& head) {
  const auto has = [&head](std::string_view key) { return head.keys.count(key) > 0; };
  const bool gpus = has("gpu") && (has("power") || has("power_usage") || has("usage"));
  return marks_if(head.json && (gpus || has("gpu_data")));
}

FormatMatch match_rocm_smi_json(const FileHead& head) {
  const bool card = std::any_of(head.keys.begin(), head.keys.end(), [](std::string_view key) {
    return key.starts_with("card") && key.size() > 4 && is_digit(key[4]);
  });
  return marks_if(head.json && card && contains(head.bytes, "Power (W)"));
}

FormatMatch match_wandb(const FileHead& head) {
  return marks_if(head.json && head.keys.count("_timestamp") > 0 && contains(head.bytes, "gpu."));
}

namespace {

constexpr ForeignLog kForeignLogs[] = {
    {"smi_dmon", match_smi_dmon, read_smi_dmon},
    {"dcgmi_dmon", match_dcgmi_dmon, read_dcgmi_dmon},
    {"metrics_text", match_metrics_text, read_metrics_text},
    {"prometheus_json", match_prometheus_json, read_prometheus_json},
    {"grafana", match_grafana, read_grafana},
    {"amd_smi_csv", match_amd_smi_csv, read_amd_smi_csv},
    {"amd_smi_json", match_amd_smi_json, read_amd_smi_json},
    {"rocm_smi_csv", match_rocm_smi_csv, read_rocm_smi_csv},
    {"rocm_smi_json", match_rocm_smi_json, read_rocm_smi_json},
    {"zeus", match_zeus, read_zeus},
    {"tegrastats", match_tegrastats, read_tegrastats},
    {"rapl", match_rapl, read_rapl},
    {"perf_stat", match_perf_stat, read_perf_stat},
    {"turbostat", match_turbostat, read_turbostat},
    {"codecarbon", match_codecarbon, read_codecarbon},
    {"nvitop", match_nvitop, read_nvitop},
    {"wandb", match_wandb, read_wandb},
    {"powermetrics", match_powermetrics, read_powermetrics},
};

}  // namespace

const ForeignLog* foreign_log_of(std::string_view text) {
  const FileHead head = file_head(text.substr(0, kFormatHeadBytes), "");
  for (const ForeignLog& one : kForeignLogs) {
    if (one.match(head) == FormatMatch::kMarks) return &one;
  }
  return nullptr;
}

}  // namespace assay
