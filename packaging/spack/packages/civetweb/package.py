# civetweb, which serves the page of a DVM: Spack has none.

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Before Spack 1.0 the next line has it.
    pass

from spack.package import *


class Civetweb(CMakePackage):
    """A web server as a library in C."""

    homepage = "https://github.com/civetweb/civetweb"
    git = "https://github.com/civetweb/civetweb.git"

    license("MIT")

    version("1.16", tag="v1.16", commit="d7ba35bbb649209c66e582d5a0244ba988a15159")
    version("1.15", tag="v1.15", commit="eefb26f82b233268fc98577d265352720d477ba4")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    # The fourth takes no projects of its age.
    depends_on("cmake@3.3:3", type="build")

    def cmake_args(self):
        return [
            self.define("BUILD_SHARED_LIBS", True),
            self.define("CIVETWEB_BUILD_TESTING", False),
            self.define("CIVETWEB_ENABLE_SERVER_EXECUTABLE", False),
            self.define("CIVETWEB_INSTALL_EXECUTABLE", False),
            self.define("CIVETWEB_ENABLE_IPV6", True),
            # TLS is ours, in front of it.
            self.define("CIVETWEB_ENABLE_SSL", False),
            self.define("CIVETWEB_ENABLE_ASAN", False),
        ]
