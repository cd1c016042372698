# CAF, the C++ Actor Framework, in the version that Troupe is made for: Spack has none.

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Before Spack 1.0 the next line has it.
    pass

from spack.package import *


class Caf(CMakePackage):
    """The C++ Actor Framework: lightweight actors in C++."""

    homepage = "https://www.actor-framework.org"
    url = "https://github.com/actor-framework/actor-framework/archive/0.17.6.tar.gz"

    license("BSD-3-Clause OR BSL-1.0")

    version("0.17.6", sha256="e2bf5bd243f08bb7d8adde197cfe3e6d71314ed3378fe0692f8932f4c3b3928c")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.5:", type="build")

    def cmake_args(self):
        return [
            self.define("CMAKE_CXX_STANDARD", "17"),
            self.define("CAF_NO_EXAMPLES", True),
            self.define("CAF_NO_TOOLS", True),
            self.define("CAF_NO_UNIT_TESTS", True),
            self.define("CAF_NO_OPENCL", True),
            self.define("CAF_NO_PYTHON", True),
            self.define("CAF_NO_OPENSSL", True),
        ]
