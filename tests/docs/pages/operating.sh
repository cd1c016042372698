# What docs/operating.md takes for granted: nodes that ssh leads to, and a clone.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"

export TROUPE_LAB=pages
here_is_all
ssh_by "$PWD/here.sh"
printf 'a slots=32\nb slots=32\n' >nodes
printf '#!/bin/sh\necho "$PMIX_HOSTNAME" >>ran\n' >app
chmod +x app
ln -s "$TROUPE_SOURCE/scripts" scripts

# Both jobs of the page have half of their processes on each node.
ends() {
  local status=$?
  set +e
  command troupe down >/dev/null 2>&1
  scripts/netlab down >/dev/null 2>&1
  if [ "$(grep -cx a ran) $(grep -cx b ran)" != "64 64" ]; then
    sort ran | uniq -c
    status=1
  fi
  exit "$status"
}
trap ends EXIT
