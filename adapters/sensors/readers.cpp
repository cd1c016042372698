#include "adapters/sensors/readers.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/system_error.hpp"
#include "config/defaults.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace troupe {

// -- files of the kernel -----------------------------------------------------

namespace {

/// Bytes of a label.
constexpr size_t label_bytes = 128;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view x) {
  const auto begin = x.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return x.substr(begin, x.find_last_not_of(blanks) - begin + 1);
}

/// The number between prefix and suffix.
std::optional<int64_t> number_in(std::string_view name, std::string_view prefix,
                                 std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size()
      || name.substr(0, prefix.size()) != prefix
      || name.substr(name.size() - suffix.size()) != suffix)
    return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  if (name.front() < '0' || name.front() > '9')
    return std::nullopt;
  return whole_number(name);
}

} // namespace

std::optional<std::string> read_sensor_file(const std::string& path) {
  // Not to wait for the other end of a FIFO, nor to open a terminal.
  const auto fd = unique_fd{
    ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  struct stat what {};
  if (!fd || ::fstat(fd.get(), &what) != 0 || !S_ISREG(what.st_mode))
    return std::nullopt;
  // A byte more than it may have shows that it has more.
  auto result = read_up_to(fd.get(), defaults::sensor_file_bytes + 1);
  if (result && result->size() > defaults::sensor_file_bytes)
    return std::nullopt;
  return result;
}

std::optional<int64_t> whole_number(std::string_view text) {
  text = trimmed(text);
  int64_t result = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, result);
  if (text.empty() || code != std::errc{} || rest != end)
    return std::nullopt;
  return result;
}

std::optional<int64_t> read_whole_number(const std::string& path) {
  const auto text = read_sensor_file(path);
  return text ? whole_number(*text) : std::nullopt;
}

std::string read_label(const std::string& path) {
  const auto text = read_sensor_file(path).value_or(std::string{});
  auto result =
    std::string{trimmed(std::string_view{text}.substr(0, text.find('\n')))};
  result.resize(std::min(result.size(), label_bytes));
  const auto is_odd = [](char x) { return x < ' ' || x > '~'; };
  std::replace_if(result.begin(), result.end(), is_odd, '?');
  return result;
}

std::optional<int64_t> number_named(std::string_view text,
                                    std::string_view name) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() > name.size() && line.substr(0, name.size()) == name
        && line[name.size()] == ' ')
      return whole_number(line.substr(name.size()));
  }
  return std::nullopt;
}

std::vector<std::string> numbered_entries(const std::string& directory,
                                          std::string_view prefix,
                                          std::string_view suffix) {
  const auto close = [](DIR* x) { ::closedir(x); };
  const auto entries =
    std::unique_ptr<DIR, decltype(close)>{::opendir(directory.c_str()), close};
  auto found = std::vector<std::pair<int64_t, std::string>>{};
  if (!entries)
    return {};
  while (const auto* entry = ::readdir(entries.get())) {
    if (found.size() >= defaults::sensor_devices)
      break;
    if (const auto number = number_in(entry->d_name, prefix, suffix))
      found.emplace_back(*number, entry->d_name);
  }
  std::sort(found.begin(), found.end());
  auto result = std::vector<std::string>{};
  for (auto& [number, name] : found)
    result.push_back(std::move(name));
  return result;
}

// -- temperatures ------------------------------------------------------------

namespace {

constexpr double thousandths = 1000;

/// What a thermometer can say, and what a limit can be: chips without limits
/// show 0, or the largest number that fits.
constexpr double coldest = -273.15;
constexpr double hottest = 1000;
constexpr double lowest_limit = 0;

std::optional<double> degrees(const std::string& file, double above) {
  const auto x = read_whole_number(file);
  if (!x)
    return std::nullopt;
  const auto result = static_cast<double>(*x) / thousandths;
  if (result <= above || result >= hottest)
    return std::nullopt;
  return result;
}

} // namespace

sensor_readings read_temperatures(const std::string& sysfs) {
  auto result = sensor_readings{};
  const auto root = sysfs + "/class/hwmon";
  for (const auto& chip : numbered_entries(root, "hwmon")) {
    const auto path = root + "/" + chip;
    const auto name = read_label(path + "/name");
    for (const auto& entry : numbered_entries(path, "temp", "_input")) {
      if (result.readings.size() >= defaults::sensor_devices)
        return result;
      const auto sensor = entry.substr(0, entry.find('_'));
      const auto file = path + "/" + sensor;
      const auto value = degrees(file + "_input", coldest);
      if (!value)
        continue;
      auto x = sensor_reading{};
      x.of = sensor_quantity::temperature;
      x.device = chip + "/" + sensor;
      x.label = name;
      if (const auto label = read_label(file + "_label"); !label.empty())
        x.label += (name.empty() ? "" : " ") + label;
      x.value = *value;
      x.limit = degrees(file + "_max", lowest_limit);
      x.critical = degrees(file + "_crit", lowest_limit);
      result.readings.push_back(std::move(x));
    }
  }
  return result;
}

// -- errors of memory --------------------------------------------------------

namespace {

/// What one file counts. Nothing that cannot be a count.
void add(sensor_readings& to, sensor_quantity of, const std::string& file,
         const std::string& device, const std::string& label) {
  const auto count = read_whole_number(file);
  if (!count || *count < 0 || to.readings.size() >= defaults::sensor_devices)
    return;
  auto x = sensor_reading{};
  x.of = of;
  x.device = device;
  x.label = label;
  x.value = static_cast<double>(*count);
  to.readings.push_back(std::move(x));
}

} // namespace

sensor_readings read_memory_errors(const std::string& sysfs) {
  auto result = sensor_readings{};
  const auto root = sysfs + "/devices/system/edac/mc";
  for (const auto& mc : numbered_entries(root, "mc")) {
    const auto controller = root + "/" + mc;
    auto modules = numbered_entries(controller, "dimm");
    if (modules.empty())
      modules = numbered_entries(controller, "rank");
    for (const auto& module : modules) {
      const auto path = controller + "/" + module;
      const auto device = mc + "/" + module;
      const auto label = read_label(path + "/dimm_label");
      add(result, sensor_quantity::corrected_errors, path + "/dimm_ce_count",
          device, label);
      add(result, sensor_quantity::uncorrected_errors, path + "/dimm_ue_count",
          device, label);
    }
    // Beside its modules' errors the controller counts those of which it does
    // not know the module.
    const auto* const which = modules.empty() ? "_count" : "_noinfo_count";
    const auto label = read_label(controller + "/mc_name");
    add(result, sensor_quantity::corrected_errors, controller + "/ce" + which,
        mc, label);
    add(result, sensor_quantity::uncorrected_errors, controller + "/ue" + which,
        mc, label);
  }
  return result;
}

// -- processes killed for memory ---------------------------------------------

sensor_readings read_memory_kills(const std::string& file,
                                  const std::string& device) {
  const auto text = read_sensor_file(file);
  const auto count = text ? number_named(*text, "oom_kill") : std::nullopt;
  if (!count || *count < 0)
    return {{},
            "cannot read the number of processes killed for memory (oom_kill) "
            "from "
              + file + "; the kernel has it since 4.13"};
  auto x = sensor_reading{};
  x.of = sensor_quantity::memory_kills;
  x.device = device;
  x.value = static_cast<double>(*count);
  return {{x}, {}};
}

// -- pressure on memory ------------------------------------------------------

std::optional<double> pressure_in(std::string_view text) {
  constexpr std::string_view begin = "some avg10=";
  constexpr auto whole = 100.0;
  if (text.substr(0, begin.size()) != begin)
    return std::nullopt;
  text.remove_prefix(begin.size());
  text = text.substr(0, text.find(' '));
  auto result = 0.0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] =
    std::from_chars(text.data(), end, result, std::chars_format::fixed);
  if (code != std::errc{} || rest != end || !(result >= 0 && result <= whole))
    return std::nullopt;
  return result;
}

sensor_readings read_memory_pressure(const std::string& file,
                                     const std::string& device) {
  const auto text = read_sensor_file(file);
  const auto value = text ? pressure_in(*text) : std::nullopt;
  if (!value)
    return {{},
            "cannot read the pressure on memory from " + file
              + "; the kernel needs CONFIG_PSI"};
  auto x = sensor_reading{};
  x.of = sensor_quantity::memory_pressure;
  x.device = device;
  x.value = *value;
  return {{x}, {}};
}

// -- file systems ------------------------------------------------------------

namespace {

/// @param total Without what is kept for the administrator.
double percent(uint64_t used, uint64_t total) {
  constexpr auto whole = 100.0;
  return total == 0
           ? 0.0
           : whole * static_cast<double>(used) / static_cast<double>(total);
}

} // namespace

sensor_readings read_file_system(const std::string& path) {
  struct statvfs x {};
  if (::statvfs(path.c_str(), &x) != 0)
    return {
      {}, reason_of(system_error("cannot look at the file system of " + path))};
  // None of it is trusted: a file system in user space may say anything.
  const auto blocks = uint64_t{x.f_blocks};
  const auto used = blocks - std::min(blocks, uint64_t{x.f_bfree});
  const auto free = std::min(blocks - used, uint64_t{x.f_bavail});
  const auto files = uint64_t{x.f_files};
  const auto taken = files - std::min(files, uint64_t{x.f_ffree});
  const auto space = percent(used, used + free);
  const auto names = percent(taken, files);
  auto result = sensor_reading{};
  result.of = sensor_quantity::file_system_use;
  result.device = path;
  result.label = names > space ? "files" : "space";
  result.value = std::max(space, names);
  return {{result}, {}};
}

} // namespace troupe
