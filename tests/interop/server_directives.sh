# What functions of a resource manager in C do of their infos: the rows of
# base/directives.def that name this test, each given as a required one. What is
# done has its effect; all else is refused with PMIX_ERR_NOT_SUPPORTED.

. "$TROUPE_SOURCE/tests/interop/check.sh"

check "F4.41" "the program builds with our headers" \
  "${TROUPE_CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -pthread \
  -I"$TROUPE_SOURCE/c_api/include" -o server_directives \
  "$TROUPE_SOURCE/tests/interop/programs/server_directives.c" \
  -L"$TROUPE_LIB" -lpmix -Wl,-rpath,"$TROUPE_LIB" \
  ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}

# Rows, `call name key how`, and of each call one that nobody knows.
python3 - "$TROUPE_SOURCE" <<'PROGRAM'
import re, sys
source = sys.argv[1]
def read(name):
    lines = open(source + "/" + name).read().splitlines()
    return "\n".join(x for x in lines if not x.lstrip().startswith(("//", "#")))
known = {x[0]: x[1:] for x in re.findall(
    r'TROUPE_ATTRIBUTE\((\w+), "(\w+)", "([^"]+)", \w+\)',
    read("messages/attributes.def"))}
table = read("base/directives.def")
rows = [(call, *known[name], how) for call, name, how, test in re.findall(
    r'TROUPE_DIRECTIVE\((\w+), (\w+), (\w+),\s*"([^"]+)"\)', table)
    if test == "interop/server_directives.sh"]
# A job and resources have data of any name.
calls = [x for x in re.findall(r"TROUPE_CALL\((\w+), \w+, host\)", table)
         if x != "server_iof_deliver"]
rows += [(call, "NOBODYS", "pmix.nobodys",
          "done" if call == "server_register_nspace" else "unknown")
         for call in calls]
optional = [(call, "OPTIONAL", "pmix.nobodys", "optional") for call in calls
            if call not in ("server_init", "server_register_nspace")]
with open("init.rows", "w") as init, open("calls.rows", "w") as other:
    for row in rows + optional:
        print(*row, file=init if row[0] == "server_init" else other)
PROGRAM

# runs MODE [DIRECTORY]: gives the program its rows.
runs() {
  within 600 ./server_directives "$@" <"$1.rows" >"$1.walked"
}
mkdir servers
check "F4.41 C4.6" "infos of PMIx_server_init are done or refused" \
  runs init "$PWD/servers"
check "F4.41 C4.7 C4.10" "those of the other functions of a host, too" runs calls
for mode in init calls; do
  check_equal "F4.41 F4.42" "$mode: each row has been walked" \
    "$(awk '$4 != "optional" { print $1, $2 }' "$mode.rows" | sort)" \
    "$(sort "$mode.walked")"
done

# Why a server does not start is said.
cat >refused.c <<'PROGRAM'
#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>
int main(void) {
  static pmix_server_module_t module;
  const bool yes = true;
  pmix_info_t x;
  PMIX_INFO_LOAD(&x, PMIX_SERVER_GATEWAY, &yes, PMIX_BOOL);
  PMIX_INFO_REQUIRED(&x);
  return PMIx_server_init(&module, &x, 1) == PMIX_ERR_NOT_SUPPORTED ? 0 : 1;
}
PROGRAM
check "F4.41" "a program builds that requires what is not done" \
  "${TROUPE_CC:-cc}" -std=gnu11 -I"$TROUPE_SOURCE/c_api/include" -o refused \
  refused.c -L"$TROUPE_LIB" -lpmix -Wl,-rpath,"$TROUPE_LIB" \
  ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
check_match "F4.41" "a server that does not start says what was required" \
  'PMIX_SERVER_GATEWAY is required, but PMIx_server_init does not act upon it' \
  "$(within 120 ./refused 2>&1 && echo refused)"

finish
