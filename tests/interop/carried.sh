# What programs have CAF write of messages is whole; what they never have it write is
# not in them: what refuses it is no template any more (T).
. "$TROUPE_SOURCE/tests/interop/check.sh"

check_equal "F2.4" "what CAF carries between nodes survives in our programs" "31 types" \
  "$(carried)"
if [ -z "${TROUPE_SANITIZER:-}" ]; then
  for program in troupe trouped; do
    check_equal "F2.4" "$program has no other messages written by CAF" "T T T T" \
      "$(nm -C "$(command -v "$program")" \
        | grep -E 'troupe::inspect<caf::(de)?serializer>.* troupe::(job_map|mesh_status)&' \
        | awk '{ print $2 }' | xargs)"
  done
fi

finish
