# Every target of ours links `troupe_flags`: warnings are errors, hardening is on.
add_library(troupe_flags INTERFACE)
target_compile_definitions(troupe_flags INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)
target_include_directories(troupe_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(troupe_flags INTERFACE -Wall -Wextra -Wpedantic -Werror
                                              -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports members of variants and optionals that are never read.
  target_compile_options(troupe_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC would look through all of CAF's templates for garbage, again and again: a
  # fifth of the time of each file, for memory that a compiler may have.
  target_compile_options(troupe_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1500000>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=400>")
endif()

# troupe_precompile(<target> [OWN])
#
# Reads the typed interfaces, and with them most of CAF, once for all files of a
# target: two to three seconds a file. What CAF makes of a message is compiled once,
# by messages/sent.def: half a second for each message that a file sends. What has
# been read for `troupe_sent` serves all targets of the same options; OWN is for one
# that has others, or more to read. By GCC only: scripts/tidy, by Clang, shows a file
# that does not include what it uses.
function(troupe_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if("OWN" IN_LIST ARGN)
    target_precompile_headers(
      ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<messages/sent.hpp$<ANGLE-R>>")
  else()
    target_precompile_headers(${target} REUSE_FROM troupe_sent)
  endif()
endfunction()

# troupe_unite(<target> [ALONE <name> ...])
#
# Compiles the files of a folder four at a time: what two of them make of CAF's and
# the C++ library's templates is made once. ALONE: files, without their ending, whose
# private names others of the folder have too, that take ten seconds by themselves, or
# of which a client's library takes one and not its neighbours. By GCC only;
# scripts/tidy has a build in which each file stands alone. A library that needs one
# function of four files gets no more: each has a section of its own.
#
# CMake's own unity files have the path of the clone in them, and so what ccache has
# of one clone is nothing to another; these are the same in all.
option(TROUPE_UNITE "Compile several files at once" ON)
function(troupe_unite target)
  if(NOT TROUPE_UNITE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  cmake_parse_arguments(arg "" "" "ALONE" ${ARGN})
  # A type that has members of an unnamed namespace's types is an error of a header,
  # and a file that is included is one to GCC.
  target_compile_options(${target} PRIVATE -ffunction-sections -Wno-subobject-linkage)
  get_target_property(sources ${target} SOURCES)
  set(groups)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WLE)
    if(NOT source MATCHES "[.]cpp$")
      continue()
    elseif(name IN_LIST arg_ALONE)
      set_property(SOURCE "${source}" TARGET_DIRECTORY ${target}
                   APPEND PROPERTY COMPILE_OPTIONS -fno-function-sections)
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${path}")
    get_filename_component(folder "${path}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / 4")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    get_source_file_property(is_hastened "${source}" TARGET_DIRECTORY ${target}
                             TROUPE_IS_HASTENED)
    if(is_hastened)
      continue()
    endif()
    list(APPEND groups ${folder}_${group})
    string(APPEND text_${folder}_${group} "#include \"${path}\"\n")
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target}
                                PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/united/${group}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text_${group}}" @ONLY)
    target_sources(${target} PRIVATE "${file}")
  endforeach()
endfunction()

# troupe_hasten(<target> <file> ...)
#
# Compiles files for speed: those that an event goes through, and the groups', of which
# the benchmarks show when they are compiled for size. By themselves: what is
# precompiled, and a group, have the options of all others. Before `troupe_unite`.
function(troupe_hasten target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target}
                              PROPERTIES SKIP_PRECOMPILE_HEADERS ON
                                         TROUPE_IS_HASTENED ON)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
               $<$<CONFIG:Release>:-O2> -include "${PROJECT_SOURCE_DIR}/messages/sent.hpp")
endfunction()

# For size: most of it is CAF's templates, many small functions of which each process
# runs a few. -O1 makes half as much again, in the same time; what the benchmarks show
# of it is given back to the files that `troupe_hasten` names.
set(CMAKE_CXX_FLAGS_RELEASE "-Os -DNDEBUG")
# For size GCC copies and clears by an instruction that takes 12 ns for a dozen bytes and
# 60 for a key of the C API, three to four times as long as the C library. Half a percent
# of the code.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mstringop-strategy=libcall TROUPE_HAS_STRINGOP_STRATEGY)
if(TROUPE_HAS_STRINGOP_STRATEGY)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -mstringop-strategy=libcall")
endif()
if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT TROUPE_SANITIZER)
  target_compile_options(troupe_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
# Where a function cannot throw, and nothing that it calls, exceptions need no table of
# it: half of all functions in files of messages, of some bytes each. GCC leaves such
# tables out if they are for exceptions alone and if it writes them itself. What it
# writes by DWARF 2, the assembler makes as small as its own; the number says no more, as
# there is no debugging information. With some, debuggers get all tables; without, they
# do not get out of a function that has none, and so files in which a process waits by
# a bare system call ask for them (adapters/CMakeLists.txt).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT TROUPE_SANITIZER
   AND NOT CMAKE_CXX_FLAGS MATCHES "(^| )-g")
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -fno-asynchronous-unwind-tables"
                                        " -fno-dwarf2-cfi-asm -gdwarf-2 -g0")
endif()
target_link_options(troupe_flags INTERFACE -Wl,-z,relro -Wl,-z,noexecstack)
# A tenth of the space for relocations, which are read at every start.
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-z,pack-relative-relocs TROUPE_HAS_RELR)
if(TROUPE_HAS_RELR)
  target_link_options(troupe_flags INTERFACE -Wl,-z,pack-relative-relocs)
endif()
# Templates that nothing calls any more would be read into memory beside others.
target_link_options(troupe_flags INTERFACE -Wl,--gc-sections)
set(TROUPE_EXECUTABLE_LINK_OPTIONS -pie -Wl,-z,now)
if(TROUPE_SANITIZER)
  # CAF builds a null reference for function actors without arguments.
  target_compile_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZER}
                                                -fno-omit-frame-pointer)
  target_link_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZER})
  if(TROUPE_SANITIZER MATCHES "undefined")
    target_compile_options(troupe_flags INTERFACE -fno-sanitize=null -fno-sanitize-recover=all)
  endif()
endif()
if(TROUPE_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TROUPE_BUILD_FUZZERS needs Clang: configure with -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(troupe_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A second build of the same file costs nothing.
find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/compile_with_ccache"
                                  "${TROUPE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/compile_with_ccache"
                                  "${TROUPE_CCACHE}")
endif()
