#include "tools/output_options.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

using flag_of_format = bool output_format::*;

const std::map<std::string_view, flag_of_format>& format_words() {
  static const auto result = std::map<std::string_view, flag_of_format>{
    {"label", &output_format::label},
    {"rank", &output_format::rank},
    {"tag", &output_format::tag},
    {"tag-detailed", &output_format::tag_detailed},
    {"tag-fullname", &output_format::tag_fullname},
    {"timestamp", &output_format::timestamp},
    {"xml", &output_format::xml},
    {"json", &output_format::json},
    {"raw", &output_format::raw}};
  return result;
}

using flag_of_options = bool output_options::*;

/// Those of PRRTE's are there, too.
const std::map<std::string_view, flag_of_options>& other_words() {
  static const auto result = std::map<std::string_view, flag_of_options>{
    {"merge", &output_options::merge},
    {"merge-stderr-to-stdout", &output_options::merge},
    {"diag", &output_options::diagnostics},
    {"pattern", &output_options::file_is_pattern},
    {"file-only", &output_options::file_only},
    {"nocopy", &output_options::file_only}};
  return result;
}

caf::error refuse(const std::string& why) {
  return make_error(status::bad_param, "--output " + why);
}

caf::error read_policy(io_policy to, output_options& x) {
  if (x.policy != io_policy::block && x.policy != to)
    return refuse("drop-oldest and drop-newest exclude each other; give one "
                  "of them");
  x.policy = to;
  return caf::none;
}

/// Names of files with what PRRTE lets follow them, such as `out:nocopy`.
std::string without_qualifiers(std::string name, output_options& x) {
  const auto take = [&](std::string_view what) {
    if (name.size() <= what.size()
        || name.compare(name.size() - what.size(), what.size(), what) != 0)
      return false;
    name.erase(name.size() - what.size());
    return true;
  };
  for (;;)
    if (take(":nocopy"))
      x.file_only = true;
    else if (take(":pattern"))
      x.file_is_pattern = true;
    else if (!take(":copy"))
      return name;
}

caf::error read_name(const std::string& word, const std::string& given,
                     const std::string& here, output_options& x) {
  auto name = without_qualifiers(given, x);
  if (name.empty())
    return refuse(word + "= needs a name, such as " + word + "=out");
  if (!x.file.empty() || !x.directory.empty())
    return refuse("takes one of file=FILE and dir=DIR, once");
  if (name.front() != '/')
    name.insert(0, here + "/");
  (word == "file" ? x.file : x.directory) = std::move(name);
  return caf::none;
}

caf::error read_number(const std::string& word, const std::string& given,
                       output_options& x) {
  const auto number = parse_size(given);
  if (!number || (word != "tail" && *number > UINT32_MAX))
    return refuse(word + "=" + given + " is no "
                  + (word == "buffer-time"
                       ? "number of seconds, such as 2"
                       : "number of bytes, such as 65536, 64K or 1M"));
  if (word == "tail")
    x.tail = *number;
  else if (word == "buffer")
    x.format.buffer_size = static_cast<uint32_t>(*number);
  else
    x.format.buffer_time = static_cast<uint32_t>(*number);
  return caf::none;
}

caf::error read_word(const std::string& item, const std::string& here,
                     output_options& x) {
  const auto split = item.find('=');
  const auto word = item.substr(0, split);
  if (split != std::string::npos) {
    const auto given = item.substr(split + 1);
    if (word == "file" || word == "dir" || word == "directory")
      return read_name(word, given, here, x);
    if (word == "tail" || word == "buffer" || word == "buffer-time")
      return read_number(word, given, x);
  }
  if (const auto i = format_words().find(item); i != format_words().end())
    x.format.*(i->second) = true;
  else if (const auto j = other_words().find(item); j != other_words().end())
    x.*(j->second) = true;
  else if (item == "drop-oldest")
    return read_policy(io_policy::drop_oldest, x);
  else if (item == "drop-newest")
    return read_policy(io_policy::drop_newest, x);
  else if (item != "copy" && item != "block")
    return refuse("does not know \"" + item
                  + "\"; see what --output takes by --help");
  return caf::none;
}

caf::error check(const output_options& x) {
  const auto& f = x.format;
  const auto marks =
    f.label || f.rank || f.tag || f.tag_detailed || f.tag_fullname;
  if (f.json && (f.xml || marks))
    return refuse("json says whose each line is; leave out the other forms");
  if (f.raw && (f.json || f.xml || marks || f.timestamp))
    return refuse("raw is the bytes as they come; leave out the other forms");
  if (x.file_is_pattern && x.file.empty())
    return refuse("pattern is about file=FILE, which is missing");
  if (x.file_only && x.file.empty() && x.directory.empty())
    return refuse("file-only needs file=FILE or dir=DIR");
  return caf::none;
}

} // namespace

std::optional<uint64_t> parse_size(const std::string& x) {
  auto result = uint64_t{0};
  const auto* end = x.data() + x.size();
  const auto [rest, err] = std::from_chars(x.data(), end, result);
  if (err != std::errc{} || rest == x.data())
    return std::nullopt;
  const auto unit = std::string_view{rest, static_cast<size_t>(end - rest)};
  const auto shift = unit.empty()                 ? 0
                     : unit == "K" || unit == "k" ? 10
                     : unit == "M" || unit == "m" ? 20
                     : unit == "G" || unit == "g" ? 30
                                                  : -1;
  if (shift < 0 || result > (UINT64_MAX >> shift))
    return std::nullopt;
  return result << shift;
}

caf::expected<output_options>
read_output_options(const std::vector<std::string>& lists,
                    const std::string& here) {
  auto result = output_options{};
  for (const auto& list : lists)
    for (size_t begin = 0; begin <= list.size();) {
      const auto end = std::min(list.find(',', begin), list.size());
      if (const auto item = list.substr(begin, end - begin); !item.empty())
        if (auto err = read_word(item, here, result))
          return err;
      begin = end + 1;
    }
  if (auto err = check(result))
    return err;
  return result;
}

caf::error check_viewer(const output_options& x) {
  if (!x.file.empty() || !x.directory.empty())
    return refuse("file= and dir= are for whoever starts the job; redirect "
                  "the output of this command");
  if (x.merge)
    return refuse("merge is for whoever starts the job");
  if (x.tail)
    return refuse("tail= is for whoever starts the job");
  return caf::none;
}

std::vector<info> to_infos(const output_options& x) {
  auto result = std::vector<info>{};
  const auto add = [&](std::string_view key, value y) {
    result.push_back({std::string{key}, 0, std::move(y)});
  };
  const std::pair<bool, std::string_view> flags[] = {
    {x.format.tag, attr::iof_tag_output},
    {x.format.tag_detailed, attr::iof_tag_detailed_output},
    {x.format.tag_fullname, attr::iof_tag_fullname_output},
    {x.format.rank, attr::iof_rank_output},
    {x.format.timestamp, attr::iof_timestamp_output},
    {x.format.xml, attr::iof_xml_output},
    {x.format.raw, attr::iof_output_raw},
    {x.merge, attr::iof_merge_stderr_stdout},
    {x.diagnostics, attr::fwd_stddiag},
    {x.file_is_pattern, attr::iof_file_pattern},
    {x.file_only, attr::iof_file_only},
    {x.policy == io_policy::drop_oldest, attr::iof_drop_oldest},
    {x.policy == io_policy::drop_newest, attr::iof_drop_newest}};
  for (const auto& [is_set, key] : flags)
    if (is_set)
      add(key, value::boolean(true));
  if (!x.file.empty())
    add(attr::iof_output_to_file, value::string(x.file));
  if (!x.directory.empty())
    add(attr::iof_output_to_directory, value::string(x.directory));
  if (x.tail)
    add(attr::iof_cache_size, value::uint64(*x.tail));
  if (x.format.buffer_size > 0)
    add(attr::iof_buffering_size, value::uint32(x.format.buffer_size));
  if (x.format.buffer_time > 0)
    add(attr::iof_buffering_time, value::uint32(x.format.buffer_time));
  return result;
}

} // namespace troupe
