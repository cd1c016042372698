# Fences, events and groups over up to 1,000 simulated nodes cost what the
# model of guarantees, section 7, says, and no node more messages than it should:
# the program checks each row itself.

. "$TROUPE_SOURCE/tests/interop/check.sh"

check "P-C2" "fences of 8 to 1,000 nodes end, each as fast as the model says" \
  within 100 "$TROUPE_BIN/mesh_scale" --quick fence event group
check_match "P-C2" "sizes around the radix are among them" '\| 73 \|' \
  "$(cat "$TROUPE_WORK/output")"
for what in "event to all" "group construct"; do
  check_match "P-C2" "$what: up to 73 nodes" "$what, us.*\| 73 \|" \
    "$(tr '\n' ' ' <"$TROUPE_WORK/output")"
done
finish
