#include "adapters/sensors/memory_errors.hpp"

#include "adapters/sensors/sensor_file.hpp"
#include "config/defaults.hpp"

namespace troupe {

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

} // namespace troupe
