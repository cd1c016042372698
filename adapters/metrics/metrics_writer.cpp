#include "adapters/metrics/metrics_writer.hpp"

#include "messages/status.hpp"

#include <dlfcn.h>

#include <system_error>

namespace troupe {

namespace {

caf::error unusable(const std::string& what) {
  const auto* const why = ::dlerror();
  return make_error(
    status::not_found,
    "metrics cannot be written: " + (why != nullptr ? std::string{why} : what)
      + "; install libprometheus-cpp-core1.0 and the library that comes "
        "with troupe");
}

} // namespace

caf::expected<std::function<metrics_writer_function>>
load_metrics_writer(const std::filesystem::path& program) {
  namespace fs = std::filesystem;
  const auto prefix = program.parent_path().parent_path();
  // As installed, and as built.
  for (const auto* folder : {TROUPE_METRICS_FOLDER, "lib"}) {
    const auto path = prefix / folder / metrics_module_file;
    auto failure = std::error_code{};
    if (!fs::exists(path, failure))
      continue;
    auto* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* const found =
      library != nullptr ? ::dlsym(library, metrics_writer_name) : nullptr;
    if (found == nullptr)
      return unusable(
        path.string()
        + " is of another release; install all packages of one release");
    return std::function<metrics_writer_function>{
      reinterpret_cast<metrics_writer_function*>(found)};
  }
  return make_error(
    status::not_found,
    "metrics cannot be written: there is no "
      + (prefix / TROUPE_METRICS_FOLDER / metrics_module_file).string()
      + "; install what the packages of troupe have, or leave out --metrics "
        "and metrics.port");
}

} // namespace troupe
