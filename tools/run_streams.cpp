#include "tools/run_streams.hpp"

#include "messages/attributes.hpp"
#include "tools/output_flags.hpp"
#include "tools/run_refusal.hpp"
#include "tools/terminal_mode.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>

namespace troupe {

namespace {

/// What a window has if nobody knows better.
constexpr auto usual_window = winsize{24, 80, 0, 0};

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

uint32_t stdin_target(const std::string& given) {
  if (given.empty())
    return 0;
  if (given == "all")
    return rank_wildcard;
  if (given == "none")
    return rank_undef;
  auto rank = uint32_t{0};
  const auto* end = given.data() + given.size();
  const auto [rest, err] = std::from_chars(given.data(), end, rank);
  if (err != std::errc{} || rest != end || rank > rank_valid_max)
    refuse("--stdin takes a rank, all or none, not " + given);
  return rank;
}

} // namespace

void add_streams(run_options& result, const job_flags& x) {
  auto failure = std::error_code{};
  auto output = read_output_options(
    x.outputs, std::filesystem::current_path(failure).string());
  if (!output)
    refuse(reason_of(output.error()));
  result.output = std::move(*output);
  auto& infos = result.job.job_infos;
  for (auto& info : to_infos(result.output))
    infos.push_back(std::move(info));
  if (const auto why = add_flags(x.label, x.timestamp, x.json, result.output))
    refuse(reason_of(why));
  result.node.output = result.output.format;
  result.stdin_target = stdin_target(x.standard_input);
  result.screen = x.screen;
  if (!x.screen.empty()) {
    if (!x.standard_input.empty() || x.json)
      refuse("--screen shows each process in a window and takes its input "
             "there: leave out --stdin and --json");
    infos.push_back(make_info(attr::stdin_tgt, value::rank(rank_wildcard)));
    result.stdin_target = rank_undef;
  } else {
    infos.push_back(
      make_info(attr::stdin_tgt, value::rank(result.stdin_target)));
  }
  result.with_pty = x.with_pty;
  if (!x.with_pty)
    return;
  infos.push_back(make_info(attr::spawn_pty, value::boolean(true)));
  // With a size it is a screen, which echoes: our terminal must not.
  auto size = ::isatty(STDIN_FILENO) != 0 || !x.screen.empty() ? terminal_size()
                                                               : std::nullopt;
  if (!size && !x.screen.empty())
    size = usual_window;
  if (size)
    infos.push_back(make_info(
      attr::pty_wsize,
      value::bytes({reinterpret_cast<const char*>(&*size), sizeof(*size)})));
}

} // namespace troupe
