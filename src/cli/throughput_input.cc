#include "cli/throughput_input.h"

#include "cli/options.h"

namespace assay {
void add_method_option(Verb& verb, FitRequest& flags) {
  verb.option("--method", flags.method,
              "assay, or ala: the paper's curves and trees, without intervals [assay, or what "
              "the model file says]")
      .one_of({"assay", "ala"});
}

void add_fit_options(Verb& verb, FitRequest& flags) {
  verb.flag("--no-analytical-model", flags.no_physics,
            "use no specifications of models and devices: lengths, batch and devices only");
  verb.flag("--refit", flags.refit,
            "search for the kernel's parameters on this table instead of taking those found on "
            "public data");
  verb.option("--extrapolation-factor", flags.outside,
              "a point is outside if its batch, length or devices exceed the data by more than "
              "this factor [4, or that of the model file]")
      .between(1.0, 1e6);
}

void add_point_options(Verb& verb, PointRequest& flags) {
  verb.option("--at", flags.at,
              "one point: 'bb=96,ii=1024,oo=256,hw=H100,model=...,fw=vLLM,n=1'; what all rows "
              "agree on may be left out")
      .called("POINT");
  verb.option("--grid", flags.grid,
              "all combinations: 'bb=1..256*2,len=128|1024|2048,hw=A100|H100,...'")
      .called("GRID");
}

}  // namespace assay
