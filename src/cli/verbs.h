#pragma once

// One function per verb: adds the subcommand with its flags and help to the app; the callback
// leaves the process's exit code in `exit_code`.

namespace CLI {
class App;
}

namespace assay {

void add_report_verb(CLI::App& app, int& exit_code);
void add_launch_verb(CLI::App& app, int& exit_code);
void add_levels_verb(CLI::App& app, int& exit_code);
void add_bound_verb(CLI::App& app, int& exit_code);
void add_fuse_verb(CLI::App& app, int& exit_code);
void add_tax_verb(CLI::App& app, int& exit_code);
void add_sample_verb(CLI::App& app, int& exit_code);
void add_diff_verb(CLI::App& app, int& exit_code);
void add_power_verb(CLI::App& app, int& exit_code);
// `power run` and `power calibrate`, below `power`.
void add_power_run_verbs(CLI::App& power, int& exit_code);
void add_throughput_verb(CLI::App& app, int& exit_code);
// Under `throughput`, whose app they are given.
void add_throughput_fit_verb(CLI::App& throughput, int& exit_code);
void add_throughput_predict_verb(CLI::App& throughput, int& exit_code);
void add_throughput_suggest_verb(CLI::App& throughput, int& exit_code);
void add_throughput_evaluate_verb(CLI::App& throughput, int& exit_code);
void add_throughput_anneal_verb(CLI::App& throughput, int& exit_code);
void add_replay_verb(CLI::App& app, int& exit_code);
void add_record_verb(CLI::App& app, int& exit_code);
void add_null_kernel_verb(CLI::App& app, int& exit_code);
void add_sql_verb(CLI::App& app, int& exit_code);
void add_export_verb(CLI::App& app, int& exit_code);
void add_cache_verb(CLI::App& app, int& exit_code);
void add_info_verb(CLI::App& app, int& exit_code);

}  // namespace assay
