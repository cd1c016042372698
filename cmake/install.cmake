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
# and the programs, and <prefix>/share/doc/troupe: what there is to read, and the
# examples. Source: reference, "Install layout".

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

install(TARGETS troupe trouped RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

# -- to read, and to try -------------------------------------------------------

install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json")
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# -- pages of the headers ------------------------------------------------------

find_program(TROUPE_DOXYGEN doxygen)
if(TROUPE_DOXYGEN)
  list(TRANSFORM api_headers REPLACE "(.+)" "\"${PROJECT_SOURCE_DIR}/\\1\"" OUTPUT_VARIABLE docs_input)
  list(JOIN docs_input " " docs_input)
  configure_file(cmake/Doxyfile.in "${PROJECT_BINARY_DIR}/docs/Doxyfile" @ONLY)
  add_custom_target(docs COMMAND "${TROUPE_DOXYGEN}" "${PROJECT_BINARY_DIR}/docs/Doxyfile"
                    VERBATIM)
endif()
