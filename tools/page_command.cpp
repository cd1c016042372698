#include "tools/page_command.hpp"

#include "tools/guarded_main.hpp"
#include "tools/printing.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace troupe {

int page(const std::vector<std::string>& args) {
  auto failure = std::error_code{};
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const auto program = (self.parent_path() / "troupe-page").string();
  auto words = std::vector<char*>{const_cast<char*>(program.c_str())};
  for (const auto& x : args)
    words.push_back(const_cast<char*>(x.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  std::cerr << notice("troupe page", "cannot start " + program + ": "
                                       + std::strerror(errno)
                                       + "; it is installed with troupe");
  return cannot_work;
}

} // namespace troupe
