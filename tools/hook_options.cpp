#include "tools/hook_options.hpp"

#include "messages/status.hpp"
#include "tools/remote_shell.hpp"

namespace troupe {

caf::expected<site_hooks> read_hooks(const std::vector<std::string>& settings) {
  auto result = site_hooks{};
  for (const auto& x : settings) {
    const auto end = x.find('=');
    const auto name = x.substr(0, end);
    auto* hook = name == "checkpoint"  ? &result.checkpoint
                 : name == "restart"   ? &result.restart
                 : name == "provision" ? &result.provision
                                       : nullptr;
    if (hook == nullptr || end == std::string::npos)
      return make_error(status::bad_param,
                        "--hook \"" + x
                          + "\" is none; write checkpoint=COMMAND, "
                            "restart=COMMAND or provision=COMMAND");
    auto words = split_words(x.substr(end + 1), "--hook " + name);
    if (!words)
      return std::move(words.error());
    *hook = std::move(*words);
  }
  return result;
}

} // namespace troupe
