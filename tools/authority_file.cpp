#include "tools/authority_file.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/system_error.hpp"
#include "runtime/mesh_member.hpp"
#include "tools/notice.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

constexpr int usage_error = 2;

caf::error write_authority(const std::string& path, const authority& x) {
  auto bytes = x.encode();
  if (!bytes)
    return std::move(bytes.error());
  const auto fd = unique_fd{
    ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           S_IRUSR | S_IWUSR)};
  if (!fd)
    return system_error("cannot make " + path);
  if (::write(fd.get(), bytes->data(), bytes->size())
        != static_cast<ssize_t>(bytes->size())
      || ::fsync(fd.get()) != 0) {
    auto result = system_error("cannot write " + path);
    ::unlink(path.c_str());
    return result;
  }
  return {};
}

} // namespace

int make_authority_file(std::vector<std::string> args) {
  auto path = std::string{};
  auto name = std::string{"cluster"};
  auto cli = CLI::App{"Makes the authority of a DVM that nobody launches: a "
                      "file for all its nodes, which nobody else may read.",
                      "troupe authority"};
  cli.add_option("file", path, "The file; it must not exist")->required();
  cli.add_option(
    "--name", name,
    "The DVM: ClusterName of the bootstrap file (default cluster)");
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
  } catch (const CLI::Success& x) {
    return cli.exit(x);
  } catch (const CLI::ParseError& x) {
    std::cerr << notice("troupe authority", x.what());
    return usage_error;
  }
  hide_memory();
  auto made = authority::make(name);
  const auto failure = made ? write_authority(path, *made) : made.error();
  if (!failure)
    return 0;
  std::cerr << notice("troupe authority", reason_of(failure));
  return 1;
}

caf::expected<authority> read_authority_file(const std::string& path) {
  hide_memory();
  const auto fd = unique_fd{::open(
    path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) != 0)
    return system_error("cannot read the authority " + path);
  if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IRWXG | S_IRWXO)) != 0
      || (st.st_uid != ::geteuid() && st.st_uid != 0))
    return make_error(status::no_permissions,
                      "the authority " + path
                        + " is open to others; make it yours by chown and "
                          "chmod 600, or a new one by troupe authority");
  const auto bytes = read_secret(fd.get(), 2 * max_credentials_size);
  if (!bytes)
    return make_error(status::bad_param,
                      path + " is no authority; make one by troupe authority");
  auto result = authority::decode(bytes->view());
  if (!result)
    return make_error(status::bad_param,
                      path + " is no authority; make one by troupe authority");
  return result;
}

} // namespace troupe
