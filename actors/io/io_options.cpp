#include "actors/io/io_options.hpp"

#include "base/directives.hpp"
#include "base/ranks_named.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace troupe {

namespace {

/// Whether a directive of a job concerns its streams; others are read elsewhere.
bool is_of_streams(std::string_view key) {
  constexpr auto prefix = std::string_view{"pmix.iof."};
  return key.substr(0, prefix.size()) == prefix;
}

/// The directives of a job. Launchers give them with its programs, too.
std::vector<info> directives_of(const spawn_request& request) {
  auto result = request.job_infos;
  for (const auto& x : request.apps)
    result.insert(result.end(), x.infos.begin(), x.infos.end());
  return result;
}

/// The name in C of a key, or the key itself.
std::string name_of(std::string_view key) {
  const auto* x = attribute_of(key);
  return std::string{x != nullptr ? x->c_name : key};
}

/// Reads directives; remembers the first that is wrong.
class reader {
public:
  explicit reader(const std::vector<info>& infos) : infos_(infos) {
    // nop
  }

  bool flag(std::string_view key) const {
    return troupe::flag(infos_, key);
  }

  std::optional<bool> choice(std::string_view key) const {
    if (find(infos_, key) == nullptr)
      return std::nullopt;
    return troupe::flag(infos_, key);
  }

  template <class T>
  std::optional<T> number(std::string_view key, const char* remedy) {
    const auto* x = find(infos_, key);
    if (x == nullptr)
      return std::nullopt;
    auto result = x->number<T>();
    if (!result)
      fail(name_of(key) + " is no number of this kind; give " + remedy);
    return result;
  }

  std::string text(std::string_view key, const char* remedy) {
    const auto* x = find(infos_, key);
    if (x == nullptr)
      return {};
    const auto* result = x->text();
    if (result == nullptr || result->empty()) {
      fail(name_of(key) + " is no text; give " + remedy);
      return {};
    }
    return *result;
  }

  io_policy policy() {
    const auto oldest = flag(attr::iof_drop_oldest);
    const auto newest = flag(attr::iof_drop_newest);
    if (oldest && newest)
      fail("PMIX_IOF_DROP_OLDEST and PMIX_IOF_DROP_NEWEST exclude each other; "
           "give one of them");
    return oldest   ? io_policy::drop_oldest
           : newest ? io_policy::drop_newest
                    : io_policy::block;
  }

  void fail(std::string why) {
    if (why_.empty())
      why_ = std::move(why);
  }

  template <class T>
  caf::expected<T> finish(T result) {
    if (!why_.empty())
      return make_error(status::bad_param, std::move(why_));
    return result;
  }

private:
  const std::vector<info>& infos_;
  std::string why_;
};

output_format read_format(reader& in) {
  auto result = output_format{};
  result.tag = in.flag(attr::iof_tag_output) || in.flag(attr::tag_output);
  result.tag_detailed = in.flag(attr::iof_tag_detailed_output);
  result.tag_fullname = in.flag(attr::iof_tag_fullname_output);
  result.rank = in.flag(attr::iof_rank_output);
  result.timestamp =
    in.flag(attr::iof_timestamp_output) || in.flag(attr::timestamp_output);
  result.xml = in.flag(attr::iof_xml_output);
  result.raw = in.flag(attr::iof_output_raw);
  result.buffer_size =
    in.number<uint32_t>(attr::iof_buffering_size, "bytes as uint32_t")
      .value_or(0);
  result.buffer_time =
    in.number<uint32_t>(attr::iof_buffering_time, "seconds as uint32_t")
      .value_or(0);
  return result;
}

/// Source: PMIx Standard v5, PMIX_FWD_STDIN: whom the requester is going to
/// push its input to; a rank, in older releases just yes or no.
uint32_t read_pushed_input(const std::vector<info>& infos) {
  const auto* x = find(infos, attr::fwd_stdin);
  if (x == nullptr)
    return rank_undef;
  if (const auto* proc = x->proc())
    return proc->rank;
  if (x->type == data_type::bool_ || x->type == data_type::undef)
    return x->truth() ? 0 : rank_undef;
  return x->number<uint32_t>().value_or(rank_undef);
}

/// Source: PMIx Standard v5, PMIX_STDIN_TGT: a process, or in older releases a
/// rank; in prun of PRRTE a text: a rank, `all` or `none`.
uint32_t read_stdin_target(const std::vector<info>& infos) {
  const auto* x = find(infos, attr::stdin_tgt);
  if (x == nullptr)
    return read_pushed_input(infos);
  if (const auto* proc = x->proc())
    return proc->rank;
  // Launchers pass on what users say.
  if (const auto* text = x->text()) {
    auto rank = uint32_t{0};
    const auto* end = text->data() + text->size();
    if (*text == "all")
      return rank_wildcard;
    const auto found = std::from_chars(text->data(), end, rank);
    return found.ec == std::errc{} && found.ptr == end ? rank : rank_undef;
  }
  return x->number<uint32_t>().value_or(rank_undef);
}

/// Source: PMIX_PTY_WSIZE, a `struct winsize`.
void read_window(reader& in, const std::vector<info>& infos, io_wiring& to) {
  const auto* x = find(infos, attr::pty_wsize);
  if (x == nullptr)
    return;
  const auto* bytes = std::get_if<std::string>(&x->data);
  if (bytes == nullptr || bytes->size() < 2 * sizeof(uint16_t)) {
    in.fail("PMIX_PTY_WSIZE is no size of a window; give the bytes of a "
            "struct winsize");
    return;
  }
  std::memcpy(&to.pty_rows, bytes->data(), sizeof(uint16_t));
  std::memcpy(&to.pty_columns, bytes->data() + sizeof(uint16_t),
              sizeof(uint16_t));
}

} // namespace

caf::error check_required(io_call call, const std::vector<info>& directives) {
  // Our own I/O DESK reads them, whoever the host is.
  if (call != io_call::spawn)
    return check_required(call == io_call::pull ? pmix_call::iof_pull
                                                : pmix_call::iof_push,
                          directives, next_host::ours);
  auto of_streams = std::vector<info>{};
  std::copy_if(directives.begin(), directives.end(),
               std::back_inserter(of_streams),
               [](const info& x) { return is_of_streams(x.key); });
  return check_required(pmix_call::spawn, of_streams, next_host::ours);
}

caf::expected<io_wiring> read_io_wiring(const spawn_request& request) {
  const auto infos = directives_of(request);
  if (auto why = check_required(io_call::spawn, infos))
    return why;
  auto in = reader{infos};
  auto result = io_wiring{};
  result.format = read_format(in);
  result.forward_stdout = in.choice(attr::fwd_stdout);
  result.forward_stderr = in.choice(attr::fwd_stderr);
  result.forward_stddiag = in.choice(attr::fwd_stddiag);
  result.stdin_target = read_stdin_target(infos);
  result.tail = in.number<uint64_t>(attr::iof_cache_size, "bytes as uint32_t");
  result.overflow = in.policy();
  result.merge = in.flag(attr::iof_merge_stderr_stdout)
                 || in.flag(attr::merge_stderr_stdout);
  constexpr auto file_remedy = "the name of a file";
  result.file = in.text(attr::iof_output_to_file, file_remedy);
  if (result.file.empty())
    result.file = in.text(attr::output_to_file, file_remedy);
  result.file_is_pattern = in.flag(attr::iof_file_pattern);
  constexpr auto directory_remedy = "the name of a directory";
  result.directory = in.text(attr::iof_output_to_directory, directory_remedy);
  if (result.directory.empty())
    result.directory = in.text(attr::output_to_directory, directory_remedy);
  result.file_only =
    (in.flag(attr::iof_file_only) || in.flag(attr::output_nocopy))
    && (!result.file.empty() || !result.directory.empty());
  result.with_pty = in.flag(attr::spawn_pty);
  read_window(in, infos, result);
  return in.finish(std::move(result));
}

caf::expected<io_job_begun> read_io_job(const register_nspace& what) {
  auto request = spawn_request{};
  // What is said of processes and nodes is long, and of no use here.
  const auto add = [&](const std::vector<info>& infos) {
    for (const auto& x : infos)
      if (x.val.array() == nullptr)
        request.job_infos.push_back(x);
  };
  add(what.infos);
  if (const auto* more = find(what.infos, attr::job_info_array))
    add(infos_of(*more));
  auto wiring = read_io_wiring(request);
  if (!wiring)
    return std::move(wiring.error());
  auto result = io_job_begun{};
  result.nspace = what.nspace;
  result.wiring = std::move(*wiring);
  result.uid = what.owner.uid;
  result.size = number<uint32_t>(request.job_infos, attr::job_size).value_or(0);
  return result;
}

io_channels forwarded_channels(const io_wiring& wiring) {
  auto result = io_channels::none;
  if (wiring.file_only)
    return result;
  // As with OpenPMIx's server, one gets what one does not refuse.
  if (wiring.forward_stdout.value_or(true))
    result = united(result, io_channels::stdout_);
  if (wiring.forward_stderr.value_or(true))
    result = united(result, io_channels::stderr_);
  if (wiring.forward_stddiag.value_or(false))
    result = united(result, io_channels::stddiag);
  return result;
}

caf::expected<io_subscription>
read_subscription(const io_pull_request& request) {
  auto in = reader{request.directives};
  auto result = io_subscription{};
  for (const auto& [nspace, ranks] : ranks_named(request.procs))
    for (const auto rank : ranks) {
      result.sources.push_back({nspace, rank});
      if (rank == rank_undef)
        in.fail("rank of " + to_string(result.sources.back())
                + " is undefined; name a rank or PMIX_RANK_WILDCARD");
    }
  // Without any: what the requester may see of all.
  if (result.sources.empty())
    result.sources.push_back({"", rank_wildcard});
  result.channels =
    static_cast<io_channels>(static_cast<uint16_t>(request.channels)
                             & static_cast<uint16_t>(output_channels));
  if (result.channels == io_channels::none)
    in.fail("no output channel is named; give PMIX_FWD_STDOUT_CHANNEL, "
            "PMIX_FWD_STDERR_CHANNEL or PMIX_FWD_STDDIAG_CHANNEL");
  result.policy = in.policy();
  result.window =
    in.number<uint64_t>(attr::iof_cache_size, "bytes as uint32_t").value_or(0);
  if (const auto from =
        in.number<uint64_t>(io_offset_key, "bytes as uint64_t")) {
    result.start = io_start::offset;
    result.offset = *from;
  }
  if (find(request.directives, io_start_key) != nullptr) {
    const auto start = in.text(io_start_key, R"("tail" or "live")");
    if (start == "live")
      result.start = io_start::live;
    else if (start != "tail")
      in.fail(std::string{io_start_key} + " is \"" + start
              + "\"; known are tail and live");
    if (find(request.directives, io_offset_key) != nullptr)
      in.fail(std::string{io_start_key} + " and " + std::string{io_offset_key}
              + " exclude each other; give one of them");
  }
  return in.finish(std::move(result));
}

caf::expected<output_format>
read_output_format(const std::vector<info>& infos) {
  auto in = reader{infos};
  auto result = read_format(in);
  return in.finish(result);
}

} // namespace troupe
