#include "adapters/pmi1/command.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::pmi1 {

namespace {

caf::error malformed(const std::string& what) {
  return make_error(status::bad_param, what);
}

/// Splits `key=value`; nothing without the sign.
std::optional<std::pair<std::string_view, std::string_view>>
split(std::string_view x) {
  const auto sign = x.find('=');
  if (sign == std::string_view::npos || sign == 0)
    return std::nullopt;
  return std::pair{x.substr(0, sign), x.substr(sign + 1)};
}

/// Whether a value is the last of its line and may hold blanks.
bool runs_to_the_end(std::string_view key) {
  return key == "value" || key == "port";
}

caf::expected<command> parse_line(std::string_view line) {
  auto result = command{};
  while (!line.empty()) {
    const auto blank = line.find_first_not_of(" \t");
    if (blank == std::string_view::npos)
      break;
    line.remove_prefix(blank);
    auto end = std::min(line.find_first_of(" \t"), line.size());
    auto pair = split(line.substr(0, end));
    if (!pair)
      return malformed("a PMI-1 argument without '='");
    if (runs_to_the_end(pair->first)) {
      pair = split(line);
      end = line.size();
    }
    if (pair->first == "cmd")
      result.name = pair->second;
    else
      result.args.insert_or_assign(std::string{pair->first},
                                   std::string{pair->second});
    line.remove_prefix(end);
  }
  if (result.name.empty())
    return malformed("a PMI-1 line without a command");
  return result;
}

} // namespace

const std::string* command::find(std::string_view key) const {
  const auto i = args.find(key);
  return i != args.end() ? &i->second : nullptr;
}

std::optional<int32_t> command::number(std::string_view key) const {
  const auto* text = find(key);
  if (text == nullptr)
    return std::nullopt;
  auto result = int32_t{0};
  const auto* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, result);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return result;
}

void command_reader::push(std::string_view bytes) {
  buffer_.erase(0, start_);
  searched_ -= start_;
  start_ = 0;
  buffer_.append(bytes);
}

caf::expected<std::optional<std::string_view>> command_reader::next_line() {
  const auto end = buffer_.find('\n', searched_);
  const auto length =
    (end == std::string::npos ? buffer_.size() : end) - start_;
  if (length > max_line)
    return malformed("a PMI-1 line of more than " + std::to_string(max_line)
                     + " bytes");
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return std::optional<std::string_view>{};
  }
  const auto line = std::string_view{buffer_}.substr(start_, length);
  start_ = end + 1;
  searched_ = start_;
  return std::optional{line};
}

caf::expected<std::optional<command>> command_reader::next() {
  for (;;) {
    const auto got = next_line();
    if (!got)
      return got.error();
    if (!*got)
      return std::optional<command>{};
    const auto line = **got;
    if (!open_) {
      if (line.substr(0, 5) != "mcmd=") {
        auto parsed = parse_line(line);
        if (!parsed)
          return std::move(parsed.error());
        return std::optional{std::move(*parsed)};
      }
      open_.emplace();
      open_->name = line.substr(5);
      open_bytes_ = line.size();
      continue;
    }
    open_bytes_ += line.size();
    if (open_bytes_ > max_command)
      return malformed("a PMI-1 command of more than "
                       + std::to_string(max_command) + " bytes");
    if (line == "endcmd") {
      auto result = std::move(open_);
      open_.reset();
      return result;
    }
    const auto pair = split(line);
    if (!pair)
      return malformed("a PMI-1 argument without '='");
    open_->args.insert_or_assign(std::string{pair->first},
                                 std::string{pair->second});
  }
}

std::string
format(std::string_view name,
       const std::vector<std::pair<std::string_view, std::string_view>>& args) {
  auto result = std::string{"cmd="};
  result += name;
  for (const auto& [key, val] : args) {
    result += ' ';
    result += key;
    result += '=';
    result += val;
  }
  result += '\n';
  return result;
}

bool is_printable(std::string_view x) {
  return std::none_of(x.begin(), x.end(),
                      [](char c) { return c == '\n' || c == '\0'; });
}

// -- spawn -------------------------------------------------------------------

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
