#include "tools/own_libpmix.hpp"

#include "messages/status.hpp"

#include <system_error>

namespace troupe {

caf::expected<std::string> own_libpmix(const std::filesystem::path& program) {
  namespace fs = std::filesystem;
  const auto prefix = program.parent_path().parent_path();
  // As installed, and as built. Beside ours, and no other, is its server's half.
  for (const auto* folder : {TROUPE_PMIX_FOLDER, "lib"}) {
    const auto path = prefix / folder;
    auto failure = std::error_code{};
    if (fs::exists(path / "libpmix.so.2", failure)
        && fs::exists(path / "libtroupe_server.so", failure))
      return path.string();
  }
  return make_error(status::not_found,
                    "our libpmix.so.2 is not in "
                      + (prefix / TROUPE_PMIX_FOLDER).string()
                      + "; install it (Debian: libpmix-troupe2), or leave out "
                        "--own-libpmix");
}

} // namespace troupe
