#include "adapters/pmi1/spawn_command.hpp"

#include "messages/attributes.hpp"

namespace troupe::pmi1 {

namespace {

/// Programs of one request.
constexpr int32_t max_programs = 4096;

/// Processes of one program. Source: a local rank has 16 bits.
constexpr int32_t max_processes = 65535;

using pairs = std::vector<std::pair<std::string, std::string>>;

/// The pairs `<prefix>_key_<i>`, `<prefix>_val_<i>`; nothing if one is missing.
std::optional<pairs> pairs_of(const command& x, const std::string& prefix) {
  const auto count = x.number(prefix + "_num").value_or(0);
  if (count < 0 || static_cast<size_t>(count) > x.args.size())
    return std::nullopt;
  auto result = pairs{};
  for (int32_t i = 0; i < count; ++i) {
    const auto* key = x.find(prefix + "_key_" + std::to_string(i));
    const auto* val = x.find(prefix + "_val_" + std::to_string(i));
    if (key == nullptr || val == nullptr)
      return std::nullopt;
    result.emplace_back(*key, *val);
  }
  return result;
}

/// The arguments; nothing if one is missing.
std::optional<std::vector<std::string>> arguments_of(const command& x) {
  const auto count = x.number("argcnt").value_or(0);
  if (count < 0 || static_cast<size_t>(count) > x.args.size())
    return std::nullopt;
  auto result = std::vector<std::string>{};
  for (int32_t i = 1; i <= count; ++i) {
    const auto* argument = x.find("arg" + std::to_string(i));
    if (argument == nullptr)
      return std::nullopt;
    result.push_back(*argument);
  }
  return result;
}

/// Hints that this launcher knows; MPI lets it pass over others.
/// Source: MPI, "Reserved Keys" of MPI_Comm_spawn.
void apply_hints(const pairs& hints, app& to) {
  for (const auto& [key, val] : hints) {
    if (key == "wdir" || key == "wd")
      to.cwd = val;
    else if (key == "host" || key == "hosts")
      to.infos.push_back({std::string{attr::host}, 0, value::string(val)});
  }
}

} // namespace

caf::expected<std::optional<spawn_request>>
spawn_builder::refuse(const std::string& why) {
  open_.reset();
  bytes_ = 0;
  return make_error(status::bad_param, "PMI-1 spawn: " + why);
}

caf::expected<std::optional<spawn_request>>
spawn_builder::add(const command& x) {
  const auto total = x.number("totspawns").value_or(1);
  const auto number = x.number("spawnssofar").value_or(1);
  if (total < 1 || total > max_programs || number < 1 || number > total)
    return refuse("the number of programs makes no sense");
  if (number == 1) {
    open_.emplace();
    bytes_ = 0;
  } else if (!open_ || open_->apps.size() != static_cast<size_t>(number) - 1) {
    return refuse("programs come out of order");
  }
  const auto* program = x.find("execname");
  const auto processes = x.number("nprocs");
  auto arguments = arguments_of(x);
  const auto hints = pairs_of(x, "info");
  const auto preset = pairs_of(x, "preput");
  if (program == nullptr || program->empty() || !processes || *processes < 1
      || *processes > max_processes || !arguments || !hints || !preset)
    return refuse("arguments are missing or make no sense");
  for (const auto& [key, val] : *preset)
    if (key.empty() || key.size() > max_key_length)
      return refuse("a key has 1 to " + std::to_string(max_key_length)
                    + " letters");
  for (const auto& [key, val] : x.args)
    bytes_ += key.size() + val.size();
  if (bytes_ > max_command)
    return refuse("more than " + std::to_string(max_command) + " bytes");
  auto& to = open_->apps.emplace_back();
  to.cmd = *program;
  to.argv.push_back(*program);
  for (auto& argument : *arguments)
    to.argv.push_back(std::move(argument));
  to.max_procs = *processes;
  apply_hints(*hints, to);
  if (number == 1 && !preset->empty()) {
    auto infos = std::vector<info>{};
    for (const auto& [key, val] : *preset)
      infos.push_back({key, 0, value::string(val)});
    open_->job_infos.push_back(
      {std::string{preset_data}, 0, value::infos(std::move(infos))});
  }
  if (number < total)
    return std::optional<spawn_request>{};
  return std::exchange(open_, std::nullopt);
}

} // namespace troupe::pmi1
