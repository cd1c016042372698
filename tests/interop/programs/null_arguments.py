#!/usr/bin/python3
"""Calls every function of a libpmix with NULL or 0 for each argument in turn.

    null_arguments.py LIBRARY INCLUDE_FOLDER [before|server|client|numbers] [TEXT]

TEXT: only functions whose name has it. The calls of a function share a process, and have
one each if one of them does not return. In it the library has not been initialized, is a
server, or a client. With `numbers` each argument that is one of the interface's
enumerations, and each type of a value or an info, has all of many numbers instead. The
other arguments are what a careful caller has: zeroed structures, a short text, 1,
functions that do nothing. Prints a line for each call that does not return:

    FUNCTION ARGUMENT crashes|hangs|gives no text

and at the end how many have been made.
"""

import ctypes
import os
import re
import signal
import struct
import sys

SECONDS = 8
# They wait for whatever is to come, end the process, or need what the others are for.
LEFT_OUT = {"PMIx_Abort", "PMIx_server_finalize", "PMIx_server_init",
            "PMIx_server_init_sized", "PMIx_Progress"}


def prototypes(folder):
    """Function names with the texts of their parameters."""
    result = {}
    for name in ("pmix_common.h", "pmix.h", "pmix_server.h", "pmix_tool.h", "pmix_deprecated.h"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as text:
            code = re.sub(r"/\*.*?\*/", " ", text.read(), flags=re.S)
        for function, inner in re.findall(
                r"PMIX_EXPORT[^;{}]*?\b(PMIx_\w+)\s*\(([^;{}]*)\)\s*;", code):
            words = [" ".join(x.split()) for x in inner.split(",")]
            result[function] = [x for x in words if x not in ("", "void")]
    return result


LIBC = ctypes.CDLL(None)
LIBC.calloc.restype = ctypes.c_void_p
NOTHING = ctypes.CFUNCTYPE(None)(lambda: None)


def good(function, parameter, library):
    """A usable value. Memory is such as `free` takes."""
    if re.search(r"(_cbfunc_t|_fn_t)\b", parameter):
        return ctypes.cast(NOTHING, ctypes.c_void_p).value
    if function.startswith("PMIx_Info_list_") and re.match(r"void ?\*", parameter):
        return library.PMIx_Info_list_start()
    stars = parameter.count("*") + parameter.count("[")
    if re.search(r"pmix_(nspace|key)_t\b", parameter):
        stars += 1
    if stars == 0:
        return 1
    buffer = LIBC.calloc(1, 1 << 13)
    if stars == 1 and re.search(r"\bchar\b|_key_t|nspace_t", parameter):
        ctypes.memmove(buffer, b"text", 4)
    return buffer


def in_child(library, mode, work):
    """@returns how it ended, if it did not return."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        if mode == "server" and library.PMIx_server_init(None, None, ctypes.c_size_t(0)) != 0:
            os._exit(9)
        if mode == "client" and library.PMIx_Init(None, None, ctypes.c_size_t(0)) != 0:
            os._exit(9)
        os._exit(work() or 0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "hangs" if os.WTERMSIG(status) == signal.SIGALRM else "crashes"
    if os.WEXITSTATUS(status) == 9:
        sys.exit("the library cannot be initialized")
    return "gives no text" if os.WEXITSTATUS(status) == 8 else None


def call(library, function, parameters, without):
    values = [ctypes.c_void_p(0 if i == without else good(function, x, library))
              for i, x in enumerate(parameters)]
    getattr(library, function)(*values)


NUMBERS = [*range(-150, 150), *range(-3001, 1000, 37), 1 << 15, (1 << 16) - 1, 1 << 16,
           (1 << 31) - 1, -1 << 31, (1 << 32) - 1, 1 << 62]


def all_numbers(library, function, parameters, which):
    """One argument, or the type in it, is each of the numbers."""
    target = getattr(library, function)
    gives_text = function.endswith("_string") and len(parameters) == 1
    if gives_text:
        target.restype = ctypes.c_char_p
    for number in NUMBERS:
        values = [good(function, x, library) for x in parameters]
        if "*" not in parameters[which]:
            values[which] = number
        else:
            at = OFFSETS[re.search(r"pmix_\w+_t", parameters[which])[0]]
            ctypes.memmove(values[which] + at, struct.pack("=H", number & 0xffff), 2)
        if target(*map(ctypes.c_void_p, values)) is None and gives_text:
            return 8
        for x, parameter in zip(values, parameters):
            if "*" in parameter and not TAKES.search(function):
                LIBC.free(ctypes.c_void_p(x))
    return 0


# Of the type.
OFFSETS = {"pmix_value_t": 0, "pmix_data_array_t": 0, "pmix_info_t": 520}
# They free, or keep, what they get.
TAKES = re.compile("_free|_release|_unload|_list_")


def is_number(parameter):
    """Whether it is an enumeration, or has the type of a value."""
    if re.search(r"(_cbfunc_t|_fn_t|nspace_t|key_t)\b|\*\*|\[", parameter):
        return False
    name = re.search(r"\bpmix_\w+_t\b", parameter)
    return name and ("*" not in parameter or name[0] in OFFSETS)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mode = sys.argv[3] if len(sys.argv) > 3 else "before"
    part = sys.argv[4] if len(sys.argv) > 4 else ""
    library = ctypes.CDLL(sys.argv[1])
    if hasattr(library, "PMIx_Info_list_start"):
        library.PMIx_Info_list_start.restype = ctypes.c_void_p
    made = 0
    for function, parameters in sorted(prototypes(sys.argv[2]).items()):
        if function in LEFT_OUT or part not in function or not hasattr(library, function):
            continue
        if mode == "numbers":
            work = all_numbers
            rounds = [i for i, x in enumerate(parameters) if is_number(x)]
        else:
            work = call
            rounds = range(len(parameters) + 1)  # The last is without none of them.

        def run(which):
            return in_child(library, mode, lambda: max(
                work(library, function, parameters, x) or 0 for x in which))

        made += len(rounds)
        if not rounds or run(rounds) is None:
            continue
        for which in rounds:
            how = run([which])
            if how:
                what = parameters[which] if which < len(parameters) else "none"
                print(f"{function} {what} {how}", flush=True)
    print(f"{made} calls")


if __name__ == "__main__":
    main()
