# Troupe from a clone of its sources: docs/packages.md, "Spack".

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Before Spack 1.0 the next line has it.
    pass

from spack.package import *


class Troupe(CMakePackage):
    """Process management on clusters: launcher, daemon, and a libpmix.so.2 that
    takes the place of another one."""

    license("BSD-3-Clause")

    # Built from a clone (spack dev-build), so that there is nothing to fetch.
    version("0.1.0")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")

    # The interface of its messages is that of this release of CAF.
    depends_on("caf@0.17.6")
    depends_on("civetweb@1.15:")
    depends_on("fmt@9:10")
    depends_on("hwloc@2.9:")
    depends_on("libevent@2.1:")
    depends_on("munge@0.5.15:")
    depends_on("ncurses@6:")
    depends_on("openssl@3")
    depends_on("prometheus-cpp@1:")
    depends_on("spdlog+fmt_external@1.10:")
    depends_on("sqlite@3.40:")
    depends_on("zlib@1.2.13:")

    conflicts("%gcc@:11", msg="its warnings are errors of older compilers")

    def cmake_args(self):
        return [
            self.define("CMAKE_BUILD_TYPE", "Release"),
            self.define("CAF_ROOT", self.spec["caf"].prefix),
            self.define("TROUPE_BUILD_TESTS", False),
            self.define("TROUPE_BUILD_BENCH", False),
        ]

    def setup_run_environment(self, env):
        # Its libpmix.so.2 is for those who choose it: module load troupe-pmix.
        env.prepend_path("MODULEPATH", join_path(self.prefix.share, "modules", "modulefiles"))
