#!/bin/bash
# full_slurm.sh - contrib/bench-suite.sbatch on a real Slurm of one node, as TAP: tasks, and elements of
# arrays, share a suite, and each experiment runs once; what a lost one left is owed. Needs root and
# Debian's slurm-wlm and munge; skipped where they are not installed.
#
# needs: root, slurm-wlm, munge
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

# ---- batch jobs ----------------------------------------------------------------------------------

ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
# submit OPTION...: the script $folder/job as a batch job, to its end; its output in $folder/job.N, or
# .N_ELEMENT. Options that one small node cannot give are overridden.
submit() {
    job=$(PATH=$(dirname "$bench"):$PATH sbatch --parsable --nodes 1 --oversubscribe --export ALL \
        --output "$folder/job.%j" "$@" 2>"$folder/err") || echo "no job"
    await 120 ended "$job" || echo "it does not end"
}
# codes: exit codes of the elements of $job, or of itself, each once.
codes() { scontrol show job "$job" 2>/dev/null | sed -n 's/.* ExitCode=\([0-9]*\):.*/\1/p' | sort -u | xargs; }
outputs() { cat "$folder"/job.*; }
ends_with() { [ "$(codes)" = "$1" ] || echo "exit codes $(codes), not $1"; }
holds_records() { [ "$(stored)" -eq "$1" ] || echo "$(stored) records, not $1"; }
example=(contrib/bench-suite.sbatch "$folder/suite.json" "$store")
fresh() { rm -rf "$store" "$folder"/job.*; }

fresh
report "contrib/bench-suite.sbatch does the same" "$(
    submit --ntasks 2 --ntasks-per-node 2 "${example[@]}"
    ends_with 0
    holds_records 8
)"

cat >"$folder/alone" <<SCRIPT
#!/bin/bash
bench suite "$folder/suite.json" --store "$store" "\$@"
SCRIPT
fresh
report "a batch script of two tasks without srun is refused" "$(
    submit --ntasks 2 "$folder/alone"
    ends_with 2
    holds_records 0
    outputs | grep -q srun || echo "it does not name srun"
)"
report "and runs the whole suite where --shard says so" "$(
    submit --ntasks 2 "$folder/alone" --shard none
    ends_with 0
    holds_records 8
)"
fresh
report "as does one of one task" "$(
    submit --ntasks 1 "$folder/alone"
    ends_with 0
    holds_records 8
)"

# ---- arrays --------------------------------------------------------------------------------------

# Elements of one node run one after the other, or concurrently.
for array in 1-3 0-6:3; do
    fresh
    report "an array $array shares a suite: each experiment once" "$(
        submit --ntasks 1 --array $array "$folder/alone"
        ends_with 0
        holds_records 8
        done_already || echo "something is left"
    )"
done
fresh
report "so do two tasks of each element" "$(
    submit --ntasks 2 --ntasks-per-node 2 --array 1-2 "${example[@]}"
    ends_with 0
    holds_records 8
    outputs | grep -q 'shard [0-9]/4' || echo "there are not four shards"
)"
fresh
report "an array that is no range is refused" "$(
    submit --ntasks 1 --array 1,3,7 "$folder/alone"
    ends_with 2
    holds_records 0
)"

# ---- a lost shard --------------------------------------------------------------------------------

# Of four shards those have experiments that shard_of says; the first of them is never run.
lost=$(for i in 1 2 3 4; do
    "$bench" suite "$folder/suite.json" --store "$store" --dry-run --shard $i/4 | grep -q '^run' && echo $i
done | head -n 1)
cat >"$folder/losing" <<SCRIPT
#!/bin/bash
[ \$SLURM_ARRAY_TASK_ID = $lost ] && kill -KILL \$\$
bench suite "$folder/suite.json" --store "$store" --format json >"$folder/element.\$SLURM_ARRAY_TASK_ID"
SCRIPT
fresh
report "a lost element is owed, and the others end with 0" "$(
    submit --ntasks 1 --array 1-4 "$folder/losing"
    [ "$(stored)" -gt 0 ] && [ "$(stored)" -lt 8 ] || echo "$(stored) records"
    ended_last=$(ls -t "$folder"/element.* | head -n 1)
    cp "$ended_last" "$folder/out"
    holds "assert records['owed']['shards'] == [$lost], records['owed']"
    # Slurm tells 0:9 of the element that was killed, and 0:0 of the others.
    ends_with 0
)"
report "and a job behind them runs it, whose exit code is that of the suite" "$(
    submit --ntasks 1 "${example[@]}"
    ends_with 0
    holds_records 8
)"
sed -i 's/"sim"/"no_such_runtime"/' "$folder/suite.json"
report "which is none of a suite that cannot be run" "$(
    submit --ntasks 1 "${example[@]}"
    [ "$(codes)" != 0 ] || echo "exit code 0"
)"
echo "1..$count"
