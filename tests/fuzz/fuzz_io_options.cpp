// What programs and users say of I/O: directives of a job and of a pull, the
// words of `--output`, names of files with patterns, and commands of windows.
// The first byte chooses.

#include "actors/io/io_options.hpp"
#include "actors/io/output_file.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/output_options.hpp"
#include "tools/window_command.hpp"

#include <algorithm>

using namespace troupe;
using wire::fuzz::require;
using wire::fuzz::take_byte;

namespace {

constexpr std::string_view keys[] = {attr::iof_tag_output,
                                     attr::iof_tag_detailed_output,
                                     attr::iof_tag_fullname_output,
                                     attr::iof_rank_output,
                                     attr::iof_timestamp_output,
                                     attr::iof_xml_output,
                                     attr::iof_output_raw,
                                     attr::iof_buffering_size,
                                     attr::iof_buffering_time,
                                     attr::iof_cache_size,
                                     attr::iof_drop_oldest,
                                     attr::iof_drop_newest,
                                     attr::iof_merge_stderr_stdout,
                                     attr::iof_output_to_file,
                                     attr::iof_output_to_directory,
                                     attr::iof_file_pattern,
                                     attr::iof_file_only,
                                     attr::fwd_stdout,
                                     attr::fwd_stderr,
                                     attr::fwd_stddiag,
                                     attr::stdin_tgt,
                                     attr::spawn_pty,
                                     attr::pty_wsize,
                                     io_offset_key,
                                     io_start_key};

std::string take_text(std::string_view& input) {
  const auto size = std::min<size_t>(take_byte(input), input.size());
  const auto result = std::string{input.substr(0, size)};
  input.remove_prefix(size);
  return result;
}

uint64_t take_number(std::string_view& input) {
  auto result = uint64_t{0};
  for (auto bytes = take_byte(input) % 9; bytes > 0; --bytes)
    result = result << 8 | take_byte(input);
  return result;
}

value take_value(std::string_view& input) {
  switch (take_byte(input) % 8) {
    case 0:
      return value::boolean(true);
    case 1:
      return value::boolean(false);
    case 2:
      return value::uint64(take_number(input));
    case 3:
      return value::uint32(static_cast<uint32_t>(take_number(input)));
    case 4:
      return value{data_type::int64, static_cast<int64_t>(take_number(input))};
    case 5:
      return value{data_type::byte_object, take_text(input)};
    case 6:
      return {};
    default:
      return value::string(take_text(input));
  }
}

std::vector<info> take_infos(std::string_view& input) {
  auto result = std::vector<info>{};
  for (auto n = take_byte(input) % 8; n > 0; --n) {
    const auto key = keys[take_byte(input) % std::size(keys)];
    result.push_back({std::string{key}, 0, take_value(input)});
  }
  return result;
}

template <class T, class F>
void check(const caf::expected<T>& x, F f) {
  if (x)
    f(*x);
  else
    require(!reason_of(x.error()).empty(), "a refusal has a reason");
}

/// Whatever a namespace is called, it leads out of no folder.
void check_file(const io_wiring& wiring, std::string_view input) {
  auto job = io_job_begun{};
  job.nspace = take_text(input);
  job.wiring = wiring;
  job.size = static_cast<uint32_t>(take_number(input));
  auto stream = io_stream{};
  stream.source = {job.nspace, static_cast<uint32_t>(take_number(input))};
  stream.channel = io_channels::stderr_;
  // What the user has said is the user's; here it says nothing of folders.
  const auto is_plain = [](const std::string& x) {
    return x.find('/') == std::string::npos;
  };
  const auto file = file_of(job, stream);
  require(!file.folder.empty() && is_plain(file.name) && !file.name.empty()
            && file.name != "." && file.name != "..",
          "a file has a folder and a name");
  require(std::all_of(file.below.begin(), file.below.end(), is_plain),
          "a folder is one part of a path");
  if (!wiring.directory.empty() || is_plain(wiring.file))
    require(std::none_of(file.below.begin(), file.below.end(),
                         [](const std::string& x) {
                           return x.empty() || x == "." || x == "..";
                         }),
            "no folder that is made up leads elsewhere");
  require(path_of(file).size()
            < 2 * (wiring.file.size() + wiring.directory.size() + 64)
                + (wiring.file.size() + 2) * (job.nspace.size() + 16),
          "a path is bounded by what was said");
}

void fuzz_job(std::string_view input) {
  auto request = spawn_request{};
  request.job_infos = take_infos(input);
  request.apps.resize(1);
  request.apps.front().infos = take_infos(input);
  check(read_io_wiring(request), [&](const io_wiring& x) {
    require(has_files(x) || !x.file_only, "output goes somewhere");
    if (has_files(x))
      check_file(x, input);
    static_cast<void>(forwarded_channels(x));
  });
}

void fuzz_pull(std::string_view input) {
  auto request = io_pull_request{};
  request.channels = static_cast<io_channels>(take_number(input));
  for (auto n = take_byte(input) % 4; n > 0; --n) {
    auto source = proc_id{take_text(input), 0};
    source.rank = static_cast<uint32_t>(take_number(input));
    request.procs.push_back(std::move(source));
  }
  request.directives = take_infos(input);
  check(read_subscription(request), [&](const io_subscription& x) {
    require(!x.sources.empty(), "a subscription has a source");
    require(x.channels != io_channels::none
              && !has(x.channels, io_channels::stdin_),
            "a subscription is for output");
    require(x.start == io_start::offset || x.offset == 0,
            "an offset is asked for");
  });
  check(read_output_format(request.directives), [](const output_format&) {});
}

void fuzz_words(std::string_view input) {
  auto lists = std::vector<std::string>{};
  while (!input.empty()) {
    const auto end = std::min(input.find('\n'), input.size());
    lists.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  check(read_output_options(lists, "/here"), [](const output_options& x) {
    require(x.file.empty() || x.directory.empty(), "there is one place");
    require((x.file.empty() || x.file.front() == '/')
              && (x.directory.empty() || x.directory.front() == '/'),
            "names are absolute");
    static_cast<void>(check_viewer(x));
    // A job that is asked for so is understood.
    auto request = spawn_request{};
    request.job_infos = to_infos(x);
    const auto wiring = read_io_wiring(request);
    require(wiring && wiring->file == x.file && wiring->directory == x.directory
              && wiring->overflow == x.policy && wiring->merge == x.merge,
            "the attributes say what the words do");
  });
}

void fuzz_window(std::string_view input) {
  const auto nspace = take_text(input);
  const auto rank = static_cast<uint32_t>(take_number(input));
  const auto text = window_command("%n", rank, nspace);
  require(text.size() == nspace.size()
            && text.find_first_of("\"'`$;&|<>()\\ \n*?[]{}~#!")
                 == std::string::npos,
          "the name of a job is no command");
  static_cast<void>(window_command(std::string{input}, rank, nspace));
}

} // namespace

TROUPE_FUZZ(input) {
  switch (take_byte(input) % 4) {
    case 0:
      fuzz_job(input);
      break;
    case 1:
      fuzz_pull(input);
      break;
    case 2:
      fuzz_words(input);
      break;
    default:
      fuzz_window(input);
  }
}
