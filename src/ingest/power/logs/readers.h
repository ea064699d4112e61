#pragma once

// Readers of the logs of other programs, one family per source file. Each takes the whole text and
// returns the values as written (docs/formats/power_log.md describes each program). wanted: the
// column, rail or metric to read as power; empty = that of a GPU.

#include <string>

#include "ingest/power/logs/samples.h"

namespace assay {

// Words separated by blanks, under a header.
Result<LogSamples> read_smi_dmon(const std::string& text, const std::string& path,
                                 const std::string& wanted);
Result<LogSamples> read_dcgmi_dmon(const std::string& text, const std::string& path,
                                   const std::string& wanted);
Result<LogSamples> read_turbostat(const std::string& text, const std::string& path,
                                  const std::string& wanted);

// Cells separated by commas, under a header.
Result<LogSamples> read_amd_smi_csv(const std::string& text, const std::string& path,
                                    const std::string& wanted);
Result<LogSamples> read_rocm_smi_csv(const std::string& text, const std::string& path,
                                     const std::string& wanted);
Result<LogSamples> read_zeus(const std::string& text, const std::string& path,
                             const std::string& wanted);
Result<LogSamples> read_codecarbon(const std::string& text, const std::string& path,
                                   const std::string& wanted);
Result<LogSamples> read_nvitop(const std::string& text, const std::string& path,
                               const std::string& wanted);
Result<LogSamples> read_grafana(const std::string& text, const std::string& path,
                                const std::string& wanted);
Result<LogSamples> read_rapl(const std::string& text, const std::string& path,
                             const std::string& wanted);

// Self-describing lines.
Result<LogSamples> read_metrics_text(const std::string& text, const std::string& path,
                                     const std::string& wanted);
Result<LogSamples> read_tegrastats(const std::string& text, const std::string& path,
                                   const std::string& wanted);
Result<LogSamples> read_perf_stat(const std::string& text, const std::string& path,
                                  const std::string& wanted);
Result<LogSamples> read_powermetrics(const std::string& text, const std::string& path,
                                     const std::string& wanted);

// JSON: one value, several in a row, or one per line.
Result<LogSamples> read_prometheus_json(const std::string& text, const std::string& path,
                                        const std::string& wanted);
Result<LogSamples> read_amd_smi_json(const std::string& text, const std::string& path,
                                     const std::string& wanted);
Result<LogSamples> read_rocm_smi_json(const std::string& text, const std::string& path,
                                      const std::string& wanted);
Result<LogSamples> read_wandb(const std::string& text, const std::string& path,
                              const std::string& wanted);

}  // namespace assay
