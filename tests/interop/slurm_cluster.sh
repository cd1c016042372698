# To be sourced: a Slurm of two nodes, n1 and n2, both on this machine, in a
# directory of its own, on free ports, with a munge of its own. Needs root.
# slurm_start DIRECTORY LIBPMIX starts it so that its plugin loads LIBPMIX (empty:
# the system's); slurm_stop ends it.

slurm_pids=()

# slurm_configure DIRECTORY: writes key and configuration.
slurm_configure() {
  local dir=$1 host ports
  host=$(hostname)
  mapfile -t ports < <(for _ in $(seq 9); do free_port; done | sort -u)
  mkdir -p "$dir"/{state,munge} "$dir"/{spool,tmp}-n{1,2}
  chmod 700 "$dir/munge"
  chmod 1777 "$dir"/tmp-n{1,2}
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chmod 400 "$dir/munge/key"
  cat >"$dir/slurm.conf" <<EOF
ClusterName=troupe
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
ReturnToService=2
SlurmctldPort=${ports[0]}
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
TmpFS=$dir/tmp-%n
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
SlurmdDebug=${TROUPE_SLURM_DEBUG:-info}
SlurmdParameters=config_overrides
KillWait=5
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=8 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
  # Its other way lets fences without data go before other nodes have come, on
  # any library; Open MPI, which waits in one before it sends, crashes then.
  echo PMIxCollFence=ring >"$dir/mpi.conf"
  export SLURM_CONF=$dir/slurm.conf
}

# slurm_start DIRECTORY LIBPMIX
slurm_start() {
  local dir=$1 library=$2 i node
  slurm_configure "$dir"
  /usr/sbin/munged --foreground --force --num-threads=2 \
    --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" \
    --seed-file="$dir/munge/seed" >"$dir/munge/out" 2>&1 &
  slurm_pids+=($!)
  for i in $(seq 100); do
    [ -S "$dir/munge/socket" ] && break
    sleep 0.1
  done
  /usr/sbin/slurmctld -D -c >"$dir/slurmctld.out" 2>&1 &
  slurm_pids+=($!)
  # The plugin opens the library by its full path: in a mount namespace of its
  # own the daemon finds another file there.
  for node in n1 n2; do
    SLURM_TROUPE_LIB=$library unshare --mount bash -c '
      if [ -n "$SLURM_TROUPE_LIB" ]; then
        mount --bind "$SLURM_TROUPE_LIB" \
          "$(readlink -f /usr/lib/*/pmix2/lib/libpmix.so)" || exit 1
      fi
      exec /usr/sbin/slurmd -D -N "$1"' - "$node" >"$dir/slurmd-$node.out" 2>&1 &
    slurm_pids+=($!)
  done
  for i in $(seq 200); do
    [ "$(sinfo -h -o '%D %T' 2>/dev/null)" = "2 idle" ] && return 0
    sleep 0.1
  done
  echo "Slurm does not come up:"
  tail -n 20 "$dir"/*.log "$dir"/*.out
  return 1
}

# slurm_stop: ends what slurm_start started, the node first.
slurm_stop() {
  local i
  for ((i = ${#slurm_pids[@]} - 1; i >= 0; --i)); do
    kill "${slurm_pids[i]}" 2>/dev/null
    wait "${slurm_pids[i]}" 2>/dev/null
  done
  slurm_pids=()
}
