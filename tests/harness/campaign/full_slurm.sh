#!/bin/bash
# full_slurm.sh - contrib/bench-suite.sbatch on a real Slurm of one node, as TAP: two tasks share a suite,
# and each experiment runs once. Needs root and Debian's slurm-wlm and munge; skipped where they are not
# installed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
stop() {
    kill "${daemons[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$folder"
}
daemons=()
trap stop EXIT
for tool in slurmctld slurmd munged srun sbatch; do
    command -v $tool >/dev/null || {
        echo "1..0 # SKIP $tool is not installed: apt-get install slurm-wlm munge"
        echo "ok - Slurm # SKIP $tool is not installed"
        exit 0
    }
done
[ "$(id -u)" -eq 0 ] || {
    echo "1..0 # SKIP the daemons of Slurm want root"
    echo "ok - Slurm # SKIP its daemons want root"
    exit 0
}

# ---- a cluster of this machine ------------------------------------------------------------------

host=$(hostname -s)
mkdir -p "$folder/munge" "$folder/state" "$folder/spool"
chmod 711 "$folder"
chmod 700 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2>/dev/null
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file "$folder/munge/key" --socket "$folder/munge/socket" \
    --pid-file "$folder/munge/pid" --log-file "$folder/munge/log" --seed-file "$folder/munge/seed" >/dev/null 2>&1 &
daemons+=($!)
cat >"$folder/slurm.conf" <<CONF
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MailProg=/bin/true
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/ctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -c >/dev/null 2>&1 &
daemons+=($!)
slurmd -D >/dev/null 2>&1 &
daemons+=($!)
ready() { sinfo -h -o %t 2>/dev/null | grep -q idle; }
report "a Slurm of one node comes up" "$(
    await 60 ready || {
        echo "no idle node"
        tail -n 5 "$folder/ctld.log" "$folder/slurmd.log"
    }
)"

# ---- a suite -------------------------------------------------------------------------------------

cat >"$folder/suite.json" <<'SUITE'
{"bench_suite": 1, "name": "split",
 "defaults": {"runtimes": ["sim"], "variants": ["small"], "repetitions": 1, "steps": 3, "warmup": 8,
              "min_time": 0, "device_time": "none"},
 "matrix": [{"models": ["resnet18", "vgg16", "bert", "squeezenet1_1"], "modes": ["lazy", "capture"],
             "phases": ["infer"]}]}
SUITE
export PJRT_SIM=values=none,device_us=200
PATH=$(dirname "$bench"):$PATH srun -n 2 bench suite "$folder/suite.json" --store "$store" \
    >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "srun splits a suite: each experiment once" "$(
    fault_of 0
    [ "$(stored)" -eq 8 ] || echo "$(stored) records, not 8"
)"
done_already() {
    "$bench" suite "$folder/suite.json" --store "$store" --dry-run --shard none 2>/dev/null | grep -q '^0 to run, 8 done'
}
report "nothing is left to run" "$(done_already || echo "something is")"

# The script of contrib, as a batch job; its options that one small node cannot give are overridden.
rm -rf "$store"
job=$(PATH=$(dirname "$bench"):$PATH sbatch --parsable --nodes 1 --ntasks 2 --ntasks-per-node 2 --oversubscribe \
    --export ALL --output "$folder/job.out" contrib/bench-suite.sbatch "$folder/suite.json" "$store" 2>"$folder/err")
ended() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; }
report "contrib/bench-suite.sbatch does the same" "$(
    [ -n "$job" ] || echo "no job"
    await 120 ended || echo "it does not end"
    [ "$(stored)" -eq 8 ] || {
        echo "$(stored) records, not 8"
        tail -n 5 "$folder/job.out"
    }
)"
echo "1..$count"
