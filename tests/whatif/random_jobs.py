"""Random jobs of 2 to 16 ranks of which some are late, and what that costs: the job runs again without what makes them
late, in a simulator that shares no code with assay (tests/verdicts/made_up.py: hosts that launch, streams that work one after
the other, ranks that meet). What is drawn depends on the seed alone, so that the other run is the same job but for that.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "verdicts"))
import jobs as meetings  # noqa: E402
from frameworks import REDUCE  # noqa: E402
from made_up import ADD, GEMM, Program, of_ranks  # noqa: E402

LAYOUTS = ("data parallel", "groups", "pipeline")
REASONS = ("all kernels", "one kernel", "a frame", "slow host")


class RandomJob:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.seed = seed
        self.layout = rng.choice(LAYOUTS)
        self.group = rng.choice([2, 4]) if self.layout == "groups" else 1
        self.stages = rng.choice([2, 4]) if self.layout == "pipeline" else 1
        unit = self.group * self.stages
        self.ranks = unit * rng.randrange(2, 16 // unit + 1)
        self.steps = rng.randrange(4, 10)
        self.layers = rng.randrange(4, 13)
        self.blocks = rng.randrange(1, 4)               # of layers, in a step
        self.kernel_us = rng.choice([30, 80, 200])
        self.prepares_us = rng.choice([5, 8, 40])       # the host, before each launch
        self.transfer_us = rng.choice([60, 300])
        self.waits = rng.random() < 0.5                 # for the device, at the end of a step
        self.noise = rng.choice([0, 0.01, 0.02])        # of all kernels
        self.reason = rng.choice(REASONS)
        # Of the ranks that do the same work fewer than half are late; of two one.
        stage = rng.randrange(self.stages)
        alike = [rank for rank in range(self.ranks) if rank % self.stages == stage]
        self.late = sorted(rng.sample(alike, rng.randrange(1, max(1, min(3, (len(alike) - 1) // 2)) + 1)))
        # So close to each other that no one of them alone is nine tenths of it.
        more = rng.uniform(0.15, 0.6)
        self.more = {rank: more * (1 + 0.01 * place) for place, rank in enumerate(self.late)}
        self.clocks_us = [rng.uniform(0, 5000) for _ in range(self.ranks)]

    def work(self, rank, run, draw, more):
        """A rank goes through its layers; a late one takes longer for it."""
        if more and self.reason == "a frame":
            run.does("python_function", "acme/extra.py(3): collect", more * self.layers * max(self.kernel_us, self.prepares_us + 7))
        for layer in range(self.layers):
            name, op = (GEMM, "aten::mm") if layer % 2 else (ADD, "aten::add")
            slow = self.reason == "all kernels" or self.reason == "one kernel" and layer % 2 == 1
            run.launch(name, self.kernel_us * (1 + self.noise * draw()) * (1 + more if slow else 1), op=op,
                       prepares=self.prepares_us * (1 + 2 * more if self.reason == "slow host" else 1))

    def meet(self, runs, ranks):
        name = "world" if len(ranks) == self.ranks else "-".join(map(str, ranks))
        meetings.collective([runs[rank] for rank in ranks], REDUCE, "allreduce", self.transfer_us, group=name, ranks=ranks, stream=7)

    def step(self, runs, draw, more):
        for block in range(self.blocks):
            if self.layout == "pipeline":
                self.pass_on(runs, draw, more, 1 if block % 2 == 0 else -1)
                continue
            for rank, run in enumerate(runs):
                self.work(rank, run, draw, more.get(rank, 0))
            for first in range(0, self.ranks, self.group):
                if self.group > 1:
                    self.meet(runs, list(range(first, first + self.group)))
        self.meet(runs, list(range(self.ranks)))
        for run in runs:
            if self.waits:
                run.wait("cudaDeviceSynchronize")

    def pass_on(self, runs, draw, more, way):
        """From stage to stage: one works when the other's message has come."""
        for first in range(0, self.ranks, self.stages):
            stages = range(first, first + self.stages)
            before = None
            for rank in stages if way > 0 else reversed(stages):
                if before is not None:
                    meetings.p2p(runs[before], runs[rank], f"{before}>{rank}", stream=7)
                self.work(rank, runs[rank], draw, more.get(rank, 0))
                before = rank

    def run(self, late=True):
        """The traces of all ranks, and how long the job takes, us."""
        rng = random.Random(self.seed + 1)
        runs = [Program() for _ in range(self.ranks)]
        for number in range(self.steps):
            begins = [run.now for run in runs]
            self.step(runs, rng.random, self.more if late else {})
            for run, begin in zip(runs, begins):
                run.row("user_annotation", f"ProfilerStep#{number}", begin, run.now - begin)
        traces = of_ranks(runs)
        rows = [row for run in runs for row in run.rows]
        took_us = max(row["ts"] + row["dur"] for row in rows) - min(row["ts"] for row in rows)
        for run, clock_us in zip(runs, self.clocks_us):
            for row in run.rows:
                row["ts"] = round(row["ts"] + clock_us, 3)
        return traces, took_us
