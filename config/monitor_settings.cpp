#include "config/monitor_settings.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

namespace troupe {

namespace {

caf::error wrong(std::string_view setting, const std::string& remedy) {
  constexpr size_t quoted = 64;
  return make_error(status::bad_param,
                    "monitor setting \""
                      + std::string{setting.substr(0, quoted)}
                      + "\": " + remedy);
}

} // namespace

caf::error apply_setting(monitor_settings& x, std::string_view setting) {
  const auto middle = setting.find('=');
  const auto name = setting.substr(0, middle);
  const auto value = middle == std::string_view::npos
                       ? std::string_view{}
                       : setting.substr(middle + 1);
  if (setting.find('\0') != std::string_view::npos)
    return wrong(name, "it holds a zero byte; remove it");
  if (name == "plugins") {
    if (value.empty() || value.front() != '/')
      return wrong(setting, "write the path of a directory, from /");
    x.plugins = value;
    return {};
  }
  if (name == "reaction") {
    if (value.empty() || x.reactions.size() >= defaults::monitor_reactions)
      return wrong(setting, "write a reaction, at most "
                              + std::to_string(defaults::monitor_reactions)
                              + " times");
    x.reactions.emplace_back(value);
    return {};
  }
  return wrong(setting, "known are plugins=DIR and reaction=REACTION");
}

caf::error apply_settings(monitor_settings& x,
                          const std::vector<std::string>& settings) {
  for (const auto& setting : settings)
    if (auto err = apply_setting(x, setting))
      return err;
  return {};
}

} // namespace troupe
