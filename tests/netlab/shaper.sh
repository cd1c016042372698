# To be sourced after lab.sh: links that work badly. Where nftables is needed, see
# need_nft.

# need_nft IDENTIFIERS: ends the script, saying why, where frames cannot be chosen.
need_nft() {
  command -v nft >/dev/null && return
  skip "$1" "frames that are dropped or changed" "nftables is not installed"
  finish
}

# chosen NODE NET RULE: what is done with frames from that node, and to it, as nft
# says it: `meta length > 600 counter drop`.
chosen() {
  choose "$TROUPE_LAB-net" "$1-$2" "$3" && choose "$TROUPE_LAB-${1#n}" "net$2" "$3" \
    && return
  failed "" "choosing frames: $3"
  return 1
}
choose() {
  nsenter --net="/run/netns/$1" nft -f - <<END
table netdev chosen-$2 {
  chain frames {
    type filter hook ingress device "$2" priority 0; policy accept;
    $3
  }
}
END
}

# unchosen NODE NET: takes it back, and notes how many frames that were.
unchosen() {
  unchoose "$TROUPE_LAB-net" "$1-$2"
  unchoose "$TROUPE_LAB-${1#n}" "net$2"
}
unchoose() {
  nsenter --net="/run/netns/$1" nft list table netdev "chosen-$2" \
    | sed -n 's/.*counter packets \([0-9]*\).*/\1/p' >>"$TROUPE_WORK/chosen"
  nsenter --net="/run/netns/$1" nft delete table netdev "chosen-$2"
}

# were_chosen: how many frames, since this was asked last.
were_chosen() {
  awk '{ sum += $1 } END { print sum + 0 }' "$TROUPE_WORK/chosen"
  : >"$TROUPE_WORK/chosen"
}

# slowed NODE NET RATE: no more than that each way, as tc says it: `100kbit`.
slowed() {
  local shape=(root tbf rate "$3" burst 4kb latency 400ms)
  nsenter --net="/run/netns/$TROUPE_LAB-net" \
    tc qdisc replace dev "$1-$2" "${shape[@]}" \
    && nsenter --net="/run/netns/$TROUPE_LAB-${1#n}" \
      tc qdisc replace dev "net$2" "${shape[@]}"
}

# unslowed NODE NET: takes it back.
unslowed() {
  nsenter --net="/run/netns/$TROUPE_LAB-net" tc qdisc del dev "$1-$2" root
  nsenter --net="/run/netns/$TROUPE_LAB-${1#n}" tc qdisc del dev "net$2" root
}
