"""A Slurm of several nodes on this machine, for tests: no systemd, no cgroups, as root or not, and nothing outside one
folder, which everybody may enter: munged asks for that. Needs slurmctld, slurmd, srun, sbatch (slurm-wlm) and munged (munge).

Every slurmd has a port and a folder of its own and one name of a node. TmpFS must differ, too: slurmd's PMIx makes a folder of
one name there for every step, and the second one to make it would end the step."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "sinfo", "munged")
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"

CONF = """\
ClusterName=one-machine
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
MailProg=/bin/true
ReturnToService=2
SlurmctldPidFile={folder}/control.pid
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/control.log
SlurmdLogFile={folder}/%n.log
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
SlurmdParameters=config_overrides
MaxArraySize=10001
"""


def missing():
    """The programs that are not here."""
    path = f"{os.environ.get('PATH', '')}:{SBIN}"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """with Slurm(folder, nodes) as slurm: subprocess.run(["srun", ...], env=slurm.environment)"""

    def __init__(self, folder, nodes):
        self.folder, self.nodes = pathlib.Path(folder), nodes
        self.environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{SBIN}",
                            "SLURM_CONF": str(self.folder / "slurm.conf"),
                            # Open MPI takes the nodes for machines, and would find their memory shared all the same.
                            "OMPI_MCA_btl": "self,tcp"}

    def write_conf(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(self.nodes + 1)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("munge", "state", *(f"{kind}/n{n}" for kind in ("spool", "tmp") for n in range(self.nodes))):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "munge").chmod(0o755)
        conf = CONF.format(host=host, port=ports[0], user=user, folder=self.folder)
        for n in range(self.nodes):
            conf += f"NodeName=n{n} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[n + 1]} CPUs={os.cpu_count()} RealMemory=64000\n"
        conf += "PartitionName=test Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP\n"
        (self.folder / "slurm.conf").write_text(conf)

    def call(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise OSError(f"{words[0]} left with {done.returncode}: {done.stdout}{done.stderr}")

    def __enter__(self):
        self.write_conf()
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        try:
            self.call("munged", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                      f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--num-threads=2")
            self.call("slurmctld", "-c")
            for n in range(self.nodes):
                self.call("slurmd", "-N", f"n{n}")
            self.wait_until_idle()
        except (subprocess.SubprocessError, OSError):
            self.__exit__()
            raise
        return self

    def wait_until_idle(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            told = subprocess.run(["sinfo", "-h", "-t", "idle", "-o", "%D"], env=self.environment, capture_output=True, text=True)
            if told.stdout.strip() == str(self.nodes):
                return
            time.sleep(0.1)
        raise TimeoutError(f"the nodes did not come up: {(self.folder / 'control.log').read_text()[-600:]}")

    def __exit__(self, *_):
        files = [*sorted(self.folder.glob("n*.pid")), self.folder / "control.pid", self.folder / "munge/pid"]
        pids = [int(file.read_text()) for file in files if file.is_file()]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        end = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < end:
            time.sleep(0.05)
