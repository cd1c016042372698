# A client of PMI-1 in bash: pmi1.sh MODE. Its server is at descriptor $PMI_FD.

ask() {
  printf '%s\n' "$1" >&"$PMI_FD"
  IFS= read -r -t 30 answer <&"$PMI_FD" || answer="no answer"
}

# expect PATTERN QUESTION: asks, and ends if the answer is another.
expect() {
  ask "$2"
  # shellcheck disable=SC2053
  [[ $answer == $1 ]] && return
  echo "rank $PMI_RANK: '$2' gave '$answer', not '$1'"
  exit 1
}

begin() {
  expect "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0" \
    "cmd=init pmi_version=1 pmi_subversion=1"
  expect "cmd=my_kvsname kvsname=?*" cmd=get_my_kvsname
  name=${answer#*kvsname=}
}

data() {
  begin
  expect "cmd=response_to_init * rc=-1" "cmd=init pmi_version=2"
  expect "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024" cmd=get_maxes
  expect "cmd=appnum appnum=0" cmd=get_appnum
  expect "cmd=universe_size size=*" cmd=get_universe_size
  expect "cmd=put_result rc=0 *" \
    "cmd=put kvsname=$name key=k$PMI_RANK value=a b $PMI_RANK"
  expect cmd=barrier_out cmd=barrier_in
  local rank
  for ((rank = 0; rank < PMI_SIZE; ++rank)); do
    expect "cmd=get_result rc=0 msg=success value=a b $rank" \
      "cmd=get kvsname=$name key=k$rank"
  done
  expect "cmd=get_result rc=-1 *" "cmd=get kvsname=$name key=nothing"
  expect "cmd=get_result rc=-1 *" "cmd=get kvsname=nobody key=k0"
  expect "cmd=get_result rc=0 msg=success value=(vector,(0,1,$PMI_SIZE))" \
    "cmd=get kvsname=$name key=PMI_process_mapping"
  expect "cmd=getbyidx_results rc=-2 *" "cmd=getbyidx kvsname=$name idx=0"
  expect cmd=finalize_ack cmd=finalize
}

# parent COUNT: spawns that many children of two programs.
parent() {
  begin
  local number
  for number in 1 2; do
    printf '%s\n' mcmd=spawn "nprocs=$1" execname=bash totspawns=2 \
      "spawnssofar=$number" "arg1=$0" arg2=child "arg3=program $number" \
      argcnt=3 preput_num=1 preput_key_0=PARENT "preput_val_0=my port" \
      info_num=1 info_key_0=wdir info_val_0=/ endcmd >&"$PMI_FD"
  done
  IFS= read -r -t 30 answer <&"$PMI_FD"
  [ "$answer" = "cmd=spawn_result rc=0 msg=success" ] || {
    echo "spawn gave '$answer'"
    exit 1
  }
  expect cmd=finalize_ack cmd=finalize
}

child() {
  begin
  expect "cmd=get_result rc=0 msg=success value=my port" \
    "cmd=get kvsname=$name key=PARENT"
  expect "cmd=appnum appnum=$((${1#program } - 1))" cmd=get_appnum
  expect cmd=barrier_out cmd=barrier_in
  expect cmd=finalize_ack cmd=finalize
  echo "child of '$1', spawned $PMI_SPAWNED, $PMI_SIZE together, in $PWD"
}

# refused LINE...: these lines close the connection.
refused() {
  printf '%b\n' "$@" >&"$PMI_FD" 2>/dev/null
  IFS= read -r -t 30 answer <&"$PMI_FD"
  [ $? -eq 1 ] && echo closed
}

# A line without an end, and longer than all limits.
endless() {
  trap '' PIPE
  head -c 2000000 /dev/zero 2>/dev/null | tr '\0' x >&"$PMI_FD" 2>/dev/null
  IFS= read -r -t 30 answer <&"$PMI_FD"
  [ $? -eq 1 ] && echo closed
}

"$@"
exit
