# What `cmake --install` puts where. Two things for two kinds of users:
#
#   libtroupe.so, for C++    <prefix>/lib, <prefix>/include/troupe, troupe.pc,
#                            TroupeConfig.cmake (target troupe::troupe)
#   libtroupe_mesh.so        the same with the mesh inside: troupe_mesh.pc, target
#                            troupe::mesh
#   libpmix.so.2, for C      <prefix>/lib/troupe/pmix, a prefix of its own with
#                            pmix.pc and PMIxConfig.cmake (PMIx::PMIx): it never
#                            stands in the way of a distribution's libpmix
#                            <prefix>/lib/troupe/mesh: the same with the mesh
#                            inside, for daemons of resource managers
#
# and the programs, their units for systemd (TROUPE_UNIT_DIR), a module file that chooses
# our libpmix.so.2, and <prefix>/share/doc/troupe: what there is to read, and the examples.
# Source: reference, "Install layout".

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# -- the C++ library -----------------------------------------------------------

# What of the headers is API, and what these include: nothing else.
file(STRINGS runtime/api_headers.txt api_headers REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                       runtime/api_headers.txt)
set(troupe_include "${CMAKE_INSTALL_INCLUDEDIR}/troupe")
set(troupe_cmake "${CMAKE_INSTALL_LIBDIR}/cmake/Troupe")
foreach(header IN LISTS api_headers)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${header}" DESTINATION "${troupe_include}/${folder}")
endforeach()
install(FILES adapters/monitor_plugins/troupe_monitor.h
        DESTINATION "${troupe_include}")
install(TARGETS troupe_shared troupe_mesh_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# The same objects as an archive, for whoever wants one file in the end: build
# the target troupe_static, then `cmake --install build --component static`.
add_library(troupe_static STATIC EXCLUDE_FROM_ALL)
foreach(layer troupe_messages troupe_inspect troupe_sent troupe_config troupe_base troupe_actors
              troupe_wire troupe_adapters troupe_spool troupe_runtime)
  target_sources(troupe_static PRIVATE $<TARGET_OBJECTS:${layer}>)
endforeach()
set_target_properties(troupe_static PROPERTIES OUTPUT_NAME troupe LINKER_LANGUAGE CXX)
install(TARGETS troupe_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT static EXCLUDE_FROM_ALL)
set(TROUPE_PRIVATE_LIBRARIES "-levent_pthreads -levent_core -lhwloc -lspdlog -lfmt -lz -lmunge -lsqlite3 -ldl")

# The prefix as seen from there: two folders up, or three (lib/x86_64-linux-gnu).
file(RELATIVE_PATH troupe_pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" troupe_pc_up "${troupe_pc_up}")
foreach(name troupe troupe_mesh)
  configure_file(cmake/troupe.pc.in "${PROJECT_BINARY_DIR}/install/${name}.pc" @ONLY)
endforeach()
configure_package_config_file(
  cmake/TroupeConfig.cmake.in "${PROJECT_BINARY_DIR}/install/TroupeConfig.cmake"
  INSTALL_DESTINATION "${troupe_cmake}"
  PATH_VARS CMAKE_INSTALL_LIBDIR troupe_include)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/install/TroupeConfigVersion.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/install/troupe.pc"
              "${PROJECT_BINARY_DIR}/install/troupe_mesh.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_BINARY_DIR}/install/TroupeConfig.cmake"
              "${PROJECT_BINARY_DIR}/install/TroupeConfigVersion.cmake"
              cmake/FindCAF.cmake
        DESTINATION "${troupe_cmake}")

# -- libpmix.so.2 --------------------------------------------------------------

# The release whose interface the headers have.
file(STRINGS c_api/include/pmix_version.h version_lines
     REGEX "^#define +PMIX_VERSION_(MAJOR|MINOR|RELEASE) ")
string(REGEX REPLACE "[^0-9]*([0-9]+)[^;]*;?" "\\1." pmix_version "${version_lines}")
string(REGEX REPLACE "\\.$" "" PMIX_VERSION "${pmix_version}")

set(pmix_prefix "${CMAKE_INSTALL_LIBDIR}/troupe/pmix")
set_source_files_properties(
  tools/own_libpmix.cpp TARGET_DIRECTORY troupe_tools
  PROPERTIES COMPILE_DEFINITIONS "TROUPE_PMIX_FOLDER=\"${pmix_prefix}/lib\"")
set_source_files_properties(
  tools/version.cpp TARGET_DIRECTORY troupe_tools
  PROPERTIES COMPILE_DEFINITIONS "TROUPE_PMIX_VERSION=\"${PMIX_VERSION}\"")
# Each with its server beside it; and the path of that, should libpmix.so.2 be
# put into the place of another's.
install(TARGETS pmix pmix_server LIBRARY DESTINATION "${pmix_prefix}/lib")
install(TARGETS pmix_mesh pmix_mesh_server
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/troupe/mesh")
set_target_properties(
  pmix PROPERTIES INSTALL_RPATH "$ORIGIN;${CMAKE_INSTALL_FULL_LIBDIR}/troupe/pmix/lib")
set_target_properties(
  pmix_mesh PROPERTIES INSTALL_RPATH "$ORIGIN;${CMAKE_INSTALL_FULL_LIBDIR}/troupe/mesh")
install(DIRECTORY c_api/include/ DESTINATION "${pmix_prefix}/include"
        FILES_MATCHING PATTERN "*.h")
configure_file(cmake/pmix.pc.in "${PROJECT_BINARY_DIR}/install/pmix.pc" @ONLY)
configure_file(cmake/PMIxConfig.cmake.in
               "${PROJECT_BINARY_DIR}/install/PMIxConfig.cmake" @ONLY)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/install/PMIxConfigVersion.cmake"
  VERSION "${PMIX_VERSION}" COMPATIBILITY AnyNewerVersion)
install(FILES "${PROJECT_BINARY_DIR}/install/pmix.pc"
        DESTINATION "${pmix_prefix}/lib/pkgconfig")
install(FILES "${PROJECT_BINARY_DIR}/install/PMIxConfig.cmake"
              "${PROJECT_BINARY_DIR}/install/PMIxConfigVersion.cmake"
        DESTINATION "${pmix_prefix}/lib/cmake/PMIx")

# -- the programs --------------------------------------------------------------

install(TARGETS troupe troupe_page trouped RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

# What writes metrics, which they load when somebody wants some.
set(metrics_folder "${CMAKE_INSTALL_LIBDIR}/troupe")
set_source_files_properties(
  adapters/metrics/metrics_writer.cpp TARGET_DIRECTORY troupe_metrics
  PROPERTIES COMPILE_DEFINITIONS "TROUPE_METRICS_FOLDER=\"${metrics_folder}\"")
install(TARGETS troupe_metrics_module LIBRARY DESTINATION "${metrics_folder}")
# Units name the programs by where they have been put, which is known when they are.
set(TROUPE_UNIT_DIR "lib/systemd/system" CACHE STRING "Where units of systemd go, in the prefix")
file(READ packaging/systemd/common.in TROUPE_UNIT_COMMON)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                       packaging/systemd/common.in)
set(TROUPE_BINDIR "@TROUPE_BINDIR@")
foreach(unit trouped troupe-root)
  set(template "${PROJECT_BINARY_DIR}/install/${unit}.service.in")
  configure_file("packaging/systemd/${unit}.service.in" "${template}" @ONLY)
  # Straight to where it goes: two installations at a time name their programs each.
  install(CODE "
set(TROUPE_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
set(file \"${TROUPE_UNIT_DIR}/${unit}@.service\")
if(NOT IS_ABSOLUTE \"\${file}\")
  set(file \"\${CMAKE_INSTALL_PREFIX}/\${file}\")
endif()
message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
configure_file(\"${template}\" \"\$ENV{DESTDIR}\${file}\" @ONLY)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")")
endforeach()

# Lmod and environment-modules read it.
configure_file(packaging/troupe-pmix.in "${PROJECT_BINARY_DIR}/install/troupe-pmix" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/install/troupe-pmix"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/modules/modulefiles")

# -- manual pages, completion --------------------------------------------------

install(FILES tools/completion/troupe.bash
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME troupe)
install(FILES tools/completion/troupe.bash
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME trouped)
install(FILES tools/completion/_troupe
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

# Made of what the programs say of themselves.
find_program(TROUPE_SCDOC scdoc)
if(TROUPE_SCDOC AND NOT TROUPE_SANITIZER)
  file(GLOB manual_sources CONFIGURE_DEPENDS docs/man/*.scd)
  add_custom_command(
    OUTPUT "${PROJECT_BINARY_DIR}/man/made"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/man"
    COMMAND "${PROJECT_SOURCE_DIR}/scripts/manual" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
            "${PROJECT_BINARY_DIR}/man"
    COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/man/made"
    DEPENDS troupe troupe_page trouped scripts/manual ${manual_sources}
    COMMENT "Manual pages" VERBATIM)
  add_custom_target(manual ALL DEPENDS "${PROJECT_BINARY_DIR}/man/made")
  install(DIRECTORY "${PROJECT_BINARY_DIR}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}"
          FILES_MATCHING PATTERN "*.[1-8]")
endif()

# -- to read, and to try -------------------------------------------------------

install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
foreach(folder IN ITEMS actors bench)
  install(FILES "${folder}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.svg" PATTERN "*.png"
        PATTERN man EXCLUDE)
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# For who watches it: docs/metrics.md.
install(DIRECTORY packaging/prometheus packaging/grafana
        DESTINATION "${CMAKE_INSTALL_DATADIR}/troupe")

# -- pages of the headers ------------------------------------------------------

find_program(TROUPE_DOXYGEN doxygen)
if(TROUPE_DOXYGEN)
  list(TRANSFORM api_headers REPLACE "(.+)" "\"${PROJECT_SOURCE_DIR}/\\1\"" OUTPUT_VARIABLE docs_input)
  list(JOIN docs_input " " docs_input)
  configure_file(cmake/Doxyfile.in "${PROJECT_BINARY_DIR}/docs/Doxyfile" @ONLY)
  add_custom_target(docs COMMAND "${TROUPE_DOXYGEN}" "${PROJECT_BINARY_DIR}/docs/Doxyfile"
                    VERBATIM)
endif()
