#include "cli/other_gpu_options.h"

#include "cli/options.h"

namespace assay {

Option& add_other_gpu_options(Verb& verb, OtherGpuRequest& request) {
  Option& on = verb.option("--on", request.gpus,
                           "the run on these GPUs: kernels by their work, replayed with this host")
                   .one_per_mention()
                   .separated_by(',')
                   .called("GPU");
  verb.flag("--as-recorded", request.as_recorded,
            "with --on: keep the host time that a profiler took");
  verb.option("--cpu-speed", request.cpu_speed, "with --on: a host so many times as fast")
      .between(0.1, 10.0)
      .called("X");
  verb.option("--like", request.like,
              "with --on: the host at the pace of this recording of the same program")
      .called("TRACE")
      .not_with("--cpu-speed");
  verb.option("--link-gb-s", request.link_gb_s,
              "with --on: GB/s from one of those GPUs to its peers, in one direction")
      .more_than_zero()
      .called("X");
  verb.option("--prices", request.prices,
              "with --on: CSV with gpu, usd_per_gpu_hour and optional watts, as throughput plan "
              "reads; adds cost, and energy at most")
      .called("FILE");
  return on;
}

Status check_other_gpu_options(const OtherGpuRequest& request) {
  if (!request.lacks_gpus()) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "--as-recorded, --cpu-speed, --like, --link-gb-s and --prices need --on GPU", "",
               -1};
}

}  // namespace assay
