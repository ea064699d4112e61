#!/usr/bin/env python3
"""`assay job` with many processes: the answer has the bytes of one process, with Open MPI and under a Slurm of four
nodes on
this machine. A killed process only costs its own file, and the next run continues.

    check_job_processes.py mpi|slurm --assay build/release/assay --mpi build/release/assay-job
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import one_machine_slurm
from check_job import traces_of_a_job

SKIPPED = 77


def broken_job(folder):
    """Traces of 16 ranks: one truncated, one empty and one missing."""
    traces_of_a_job(folder)
    cut = folder / "rank7.json"
    cut.write_bytes(cut.read_bytes()[:cut.stat().st_size // 2])
    (folder / "rank9.json").write_bytes(b"")
    (folder / "rank3.json").unlink()


class Checks:
    def __init__(self, assay, mpi, folder):
        self.assay, self.mpi, self.folder, self.problems = assay, mpi, pathlib.Path(folder), []
        self.traces = self.folder / "traces"
        broken_job(self.traces)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "OMPI_", "PMI_", "PMIX_", "JOB_COMPLETION"))}
        # Containers run as root, which mpirun refuses by default.
        self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self.run(self.assay, "job", self.traces, "-o", self.folder / "one.html")
        self.one = (self.folder / "one.html").read_bytes()

    def run(self, *words, **more):
        return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, env=self.environment, **more)

    def expect(self, what, holds, done=None):
        if not holds:
            tail = f": exit code {done.returncode}, {(done.stdout + done.stderr).strip()[:800]}" if done else ""
            self.problems.append(what + tail)

    def same_as_one(self, what, done, page):
        page = self.folder / page
        self.expect(f"{what}: the bytes of one process", done.returncode == 0 and page.is_file() and page.read_bytes() == self.one, done)

    def from_records(self, what, records, page):
        """Summaries of several tasks give one answer. Only the run that read the traces reports the unreadable files.
        """
        one = self.run(self.assay, "job", "--summaries", self.folder / "kept", "-o", self.folder / "from_one.html")
        done = self.run(self.assay, "job", "--summaries", records, "-o", self.folder / page)
        self.expect(f"{what}: the bytes of one process",
                    done.returncode == 0 and (self.folder / page).read_bytes() == (self.folder / "from_one.html").read_bytes(), one)

    # ---- MPI ----

    def mpirun(self, processes, *words):
        return self.run("mpirun", "--oversubscribe", "-n", processes, *words)

    def mpi_checks(self):
        for processes in (1, 2, 3, 4):
            page = f"mpi{processes}.html"
            done = self.mpirun(processes, self.mpi, self.traces, "-o", self.folder / page)
            self.same_as_one(f"mpirun -n {processes}", done, page)
            self.expect("what could not be read is said once", done.stderr.count("not read: ") == 2, done)
        self.expect("nothing is left behind", not list(self.folder.glob(".*")) and not list(self.folder.glob("*.tmp*")))
        kept = self.folder / "records"
        done = self.mpirun(4, self.assay, "job", self.traces, "--summary-dir", kept, "-o", self.folder / "become.html")
        self.same_as_one("`mpirun assay job` becomes assay-job", done, "become.html")
        writers = {file.stem.rsplit("-", 1)[1] for file in kept.glob("*.ranks")}
        self.expect(f"who hands out does not read, the others do: {writers}", writers and writers <= {"1", "2", "3"})
        done = self.mpirun(4, self.mpi, "--summaries", kept)
        self.expect("--summaries needs nobody else", done.returncode == 0, done)
        done = self.mpirun(3, self.mpi, self.folder / "nowhere")
        self.expect("an error of one ends all, and is said once", done.returncode == 2 and done.stderr.count("assay: ") <= 2, done)
        done = self.mpirun(2, self.mpi, "--strict", self.traces)
        self.expect("the exit code is the leader's", done.returncode == 3, done)
        blocked = self.folder / "blocked"
        blocked.write_text("")
        done = self.mpirun(2, self.mpi, self.traces, "--summary-dir", blocked)
        self.expect("a folder that cannot be written to is an error", done.returncode == 2, done)
        self.alone_beside_assay()
        self.killed()

    def alone_beside_assay(self):
        """Without assay-job next to it: exit code 2, and both remedies."""
        lonely = self.folder / "lonely"
        lonely.mkdir()
        shutil.copy(self.assay, lonely / "assay")
        done = self.mpirun(2, lonely / "assay", "job", self.traces, "-o", self.folder / "never.html")
        self.expect("without assay-job both ways out are named",
                    done.returncode == 2 and "assay-job" in done.stderr and "--shard auto" in done.stderr, done)

    def killed(self):
        """One of three processes is killed while it reads, and the job is run again."""
        records = self.folder / "killed"
        for number in range(16, 200):
            shutil.copy(self.traces / "rank0.json", self.traces / f"copy{number}.json")
        whole = self.run(self.assay, "job", self.traces, "-o", self.folder / "whole.html")
        words = ["mpirun", "--oversubscribe", "-n", "3", str(self.mpi), str(self.traces), "--summary-dir", str(records), "-o",
                 str(self.folder / "after.html")]
        job = subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while time.monotonic() < end and job.poll() is None:
            files = [file for file in records.glob("*-1.ranks") if file.stat().st_size > 0]
            if files:
                os.kill(int(files[0].stem.split("-")[-2]), signal.SIGKILL)
                break
            time.sleep(0.002)
        job.wait(timeout=60)
        self.expect("the step ends with who was killed", job.returncode != 0 and not (self.folder / "after.html").exists())
        before = sum(file.read_bytes().count(b"ASYRANK1") for file in records.glob("*.ranks"))
        done = self.run(*words)
        after = sum(file.read_bytes().count(b"ASYRANK1") for file in records.glob("*.ranks"))
        traces = len(list(self.traces.glob("*.json"))) - 2
        self.expect(f"{before} records were there, {after - before} came, of {traces}", 0 < before < traces and after <= traces + 3, done)
        self.expect("and the answer is that of one process", done.returncode == 0 and
                    (self.folder / "after.html").read_bytes() == (self.folder / "whole.html").read_bytes(), whole)

    # ---- Slurm ----

    def slurm_checks(self):
        with one_machine_slurm.Slurm(self.folder / "slurm", 4) as slurm:
            self.environment |= slurm.environment
            self.run(self.assay, "summarize", self.traces, "-o", self.folder / "kept")
            done = self.run("srun", "--mpi=none", "-n", 4, self.assay, "summarize", self.traces, "--shard", "auto", "--resume",
                            "-o", self.folder / "step")
            self.expect("srun: every task has its share", done.returncode == 0 and len(list((self.folder / "step").glob("*"))) == 4, done)
            self.from_records("srun --mpi=none -n 4", self.folder / "step", "step.html")
            done = self.run("sbatch", "--wait", "--array=0-3", f"--output={self.folder}/array-%a.log", "--wrap",
                            f"{self.assay} summarize {self.traces} --shard auto --resume -o {self.folder}/array")
            logs = [file.read_text() for file in self.folder.glob("array-*.log")]
            self.expect(f"an array of four runs through: {logs}", done.returncode == 0 and len(logs) == 4, done)
            self.from_records("sbatch --array=0-3", self.folder / "array", "array.html")
            done = self.example("array.sbatch", self.folder / "script_array", "", "--array=0-3", "--mem=100")
            self.from_records("examples/job/array.sbatch", self.folder / "script_array", "script_array.html")
            done = self.run("srun", "--mpi=none", "-n", 2, pathlib.Path(shutil.copy(self.assay, self.folder)), "job", self.traces)
            self.expect("a step without MPI is told both ways out", done.returncode == 2 and "--shard auto" in done.stderr, done)
            if not self.mpi:
                print("assay-job was not built, its part is skipped (libopenmpi-dev)")
                return
            done = self.run("srun", "--mpi=pmix", "-N", 4, "-n", 4, self.mpi, self.traces, "-o", self.folder / "pmix.html")
            self.same_as_one("srun --mpi=pmix -n 4", done, "pmix.html")
            done = self.example("mpi.sbatch", self.folder / "script_records", self.folder / "script.html", "--ntasks=3",
                                "--mem-per-cpu=100")
            self.same_as_one("examples/job/mpi.sbatch", done, "script.html")

    def example(self, name, records, page, *options):
        """A script of examples/job, with fewer tasks than it requests."""
        self.environment["PATH"] = f"{pathlib.Path(self.assay).parent}:{self.environment['PATH']}"
        listed = self.folder / "traces.list"
        listed.write_text("".join(f"{file.stat().st_size}\t{file}\n" for file in self.traces.glob("*.json")))
        script = pathlib.Path(__file__).parents[2] / "examples/job" / name
        log = self.folder / f"{name}.log"
        done = self.run("sbatch", "--wait", "--cpus-per-task=1", f"--output={log}", *options, script, listed, records, page)
        done.stderr += "".join(file.read_text() for file in self.folder.glob(f"{name}*.log"))
        return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=("mpi", "slurm"))
    parser.add_argument("--assay", required=True, type=os.path.abspath)
    parser.add_argument("--mpi", default="")
    arguments = parser.parse_args()
    mpi = os.path.abspath(arguments.mpi) if arguments.mpi else ""
    missing = one_machine_slurm.missing() if arguments.engine == "slurm" else [] if mpi and shutil.which("mpirun") else ["MPI"]
    if missing:
        packages = "slurm-wlm munge" if arguments.engine == "slurm" else "openmpi-bin libopenmpi-dev"
        print(f"skipped: {', '.join(missing)} is not here ({packages})")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # munged requires it
        checks = Checks(arguments.assay, mpi, folder)
        checks.mpi_checks() if arguments.engine == "mpi" else checks.slurm_checks()
    for problem in checks.problems:
        print(problem, file=sys.stderr)
    if checks.problems:
        return 1
    print(f"fleet by processes of {arguments.engine}: fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
