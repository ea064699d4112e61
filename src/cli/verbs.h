#pragma once

// One function per verb. It adds the verb with its options and help to the app; the verb's action
// stores the process's exit code in `exit_code`.

namespace assay {

class Verb;  // cli/options.h

void add_report_verb(Verb& app, int& exit_code);
void add_launch_verb(Verb& app, int& exit_code);
void add_breakdown_verb(Verb& app, int& exit_code);
void add_sweep_verb(Verb& app, int& exit_code);
void add_fusion_verb(Verb& app, int& exit_code);
void add_overhead_verb(Verb& app, int& exit_code);
void add_sample_verb(Verb& app, int& exit_code);
void add_diff_verb(Verb& app, int& exit_code);
void add_power_verb(Verb& app, int& exit_code);
// Subverbs of `power`: `power run` and `power calibrate`.
void add_power_run_verbs(Verb& power, int& exit_code);
void add_power_sweep_verb(Verb& power, int& exit_code);
void add_throughput_verb(Verb& app, int& exit_code);
// Subverbs of `throughput`.
void add_throughput_fit_verb(Verb& throughput, int& exit_code);
void add_throughput_predict_verb(Verb& throughput, int& exit_code);
void add_throughput_suggest_verb(Verb& throughput, int& exit_code);
void add_throughput_facts_verb(Verb& throughput, int& exit_code);
void add_throughput_plan_verb(Verb& throughput, int& exit_code);
void add_throughput_evaluate_verb(Verb& throughput, int& exit_code);
void add_throughput_anneal_verb(Verb& throughput, int& exit_code);
void add_replay_verb(Verb& app, int& exit_code);
void add_options_verb(Verb& app, int& exit_code);
void add_record_verb(Verb& app, int& exit_code);
void add_null_kernel_verb(Verb& app, int& exit_code);
void add_sql_verb(Verb& app, int& exit_code);
void add_export_verb(Verb& app, int& exit_code);
void add_doctor_verb(Verb& app, int& exit_code);
void add_cache_verb(Verb& app, int& exit_code);
void add_whatif_verb(Verb& app, int& exit_code);
void add_why_verb(Verb& app, int& exit_code);
void add_explain_verb(Verb& app, int& exit_code);
void add_example_verb(Verb& app, int& exit_code);
void add_info_verb(Verb& app, int& exit_code);
void add_serve_verb(Verb& app, int& exit_code);
void add_list_verb(Verb& app, int& exit_code);
void add_summary_line_verb(Verb& app, int& exit_code);
void add_agent_skill_verb(Verb& app, int& exit_code);
void add_mcp_verb(Verb& app, int& exit_code);
void add_summarize_verb(Verb& app, int& exit_code);
void add_job_verb(Verb& app, int& exit_code);
void add_hang_verb(Verb& app, int& exit_code);

}  // namespace assay
