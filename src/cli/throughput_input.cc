#include "cli/throughput_input.h"

#include <CLI/CLI.hpp>

namespace assay {
void add_method_option(CLI::App& verb, FitFlags& flags) {
  verb.add_option("--method", flags.method,
                  "assay, or ala: the paper's curves and trees, without intervals [assay, or what "
                  "the model file says]")
      ->check(CLI::IsMember({"assay", "ala"}));
}

void add_fit_options(CLI::App& verb, FitFlags& flags) {
  verb.add_flag("--no-physics", flags.no_physics,
                "use no facts about models and devices: lengths, batch and devices only");
  verb.add_flag("--refit", flags.refit,
                "search for the kernel's parameters on this table instead of taking those found on "
                "public data");
  verb.add_option("--outside", flags.outside,
                  "a point is outside when its batch, length or devices are beyond the data by "
                  "more than this factor [4, or what the model file says]")
      ->check(CLI::Range(1.0, 1e6));
}

void add_point_options(CLI::App& verb, PointFlags& flags) {
  verb.add_option("--at", flags.at,
                  "one point: 'bb=96,ii=1024,oo=256,hw=H100,model=...,fw=vLLM,n=1'; what all rows "
                  "agree on may be left out")
      ->type_name("POINT");
  verb.add_option("--grid", flags.grid,
                  "all combinations: 'bb=1..256*2,len=128|1024|2048,hw=A100|H100,...'")
      ->type_name("GRID");
}

}  // namespace assay
