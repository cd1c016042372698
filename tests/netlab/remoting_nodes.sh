# To be sourced after lab.sh: nodes that are processes of remoting_node, and what they
# are told and say.

program=$TROUPE_BIN/remoting_node

# start NODE RANK KEYS [old]: a node; node_pid is the number of its process.
start() {
  local node=$1 rank=$2 keys=$3
  shift 3
  rm -f "in.$node"
  mkfifo "in.$node"
  : >"out.$node"
  background "$node" "$program" "$TROUPE_WORK/$keys" "$rank" "$TROUPE_WORK/in.$node" "$@" \
    >>"out.$node" 2>&1
  eventually 60 says "$node" ready || cat "out.$node"
}

# tell NODE COMMAND...: has a node do something.
tell() {
  local node=$1
  shift
  echo "$*" >"in.$node"
}

# says NODE REGEX: whether it has said so. hears NODE SECONDS REGEX: waits for it,
# and shows what was said if it does not come. said NODE REGEX: the last such line.
says() { grep -Eq -- "^[0-9.]* $2" "out.$1"; }
hears() {
  eventually "$2" says "$1" "$3" && return
  tail -n 20 "out.$1"
  return 1
}
said() { grep -E -- "^[0-9.]* $2" "out.$1" | tail -n 1; }

# asks NODE SECONDS REGEX COMMAND...: tells it, and waits for what comes.
asks() {
  local node=$1 seconds=$2 regex=$3
  shift 3
  tell "$node" "$@"
  hears "$node" "$seconds" "$regex"
}
