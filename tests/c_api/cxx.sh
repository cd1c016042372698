# Programs on our library, which has a C++ library of its own inside: one allocator for
# all, whoever defines it.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "C2.1" "programs in C++" "sanitizers have operators of their own"
  finish
fi

debian=$(pkg-config --variable=libdir pmix)
"${TROUPE_CXX:-c++}" -std=c++17 -O1 -Wall -I"$theirs" -o own_operators "$here/own_operators.cpp" \
  -L"$debian" -lpmix || { failed "" "compiling own_operators.cpp"; finish; }
export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

check_equal "C2.1" "a program with operators of its own" "done done" "$(job -n 2 ./own_operators | xargs)"

"${TROUPE_CC:-cc}" -std=gnu11 -Wall -o plugin_host "$here/plugin_host.c" -ldl \
  || { failed "" "compiling plugin_host.c"; finish; }
"${TROUPE_CXX:-c++}" -std=c++17 -O1 -Wall -DPLUGIN -shared -fPIC -I"$theirs" \
  -o own_operators.so "$here/own_operators.cpp" -L"$debian" -lpmix \
  || { failed "" "compiling own_operators.cpp as a plugin"; finish; }
check_equal "C2.1" "a plugin with operators of its own" "done done" \
  "$(job -n 2 ./plugin_host "$PWD/own_operators.so" | xargs)"
"${TROUPE_CXX:-c++}" -std=c++17 -O1 -Wall -shared -fPIC -static-libstdc++ -I"$theirs" \
  -o in_plugin.so "$here/in_plugin.cpp" -L"$debian" -lpmix \
  || { failed "" "compiling in_plugin.cpp"; finish; }
check_equal "C2.1" "a plugin with a C++ library inside" "done done" \
  "$(job -n 2 ./plugin_host "$PWD/in_plugin.so" | xargs)"

in_c="-std=gnu11 -Wall -I$theirs $here/in_c.c -L$debian -lpmix -ldl"
# shellcheck disable=SC2086
"${TROUPE_CC:-cc}" -o in_c $in_c || { failed "" "compiling in_c.c"; finish; }
check_equal "C2.1" "a program in C" "done done" "$(job -n 2 ./in_c | xargs)"
# shellcheck disable=SC2086
if "${TROUPE_CC:-cc}" -fsanitize=address -o in_c_checked $in_c 2>/dev/null; then
  export ASAN_OPTIONS=detect_leaks=0
  check_equal "C2.1" "a program in C with operators of a sanitizer" "done done" \
    "$(job -n 2 ./in_c_checked | xargs)"
else
  skip "C2.1" "a program in C with operators of a sanitizer" "the compiler has none"
fi
finish
