#include "tools/output_options.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tools/guarded_main.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What has been read so far.
struct words_read : output_options {
  /// `raw`, and nothing that is added to the bytes.
  bool only_bytes = false;
};

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

/// Words that are no flags; the second column says what they take.
const std::map<std::string_view, std::string_view>& special_words() {
  static const auto result =
    std::map<std::string_view, std::string_view>{{"file", "name"},
                                                 {"filename", "name"},
                                                 {"dir", "name"},
                                                 {"directory", "name"},
                                                 {"tail", "size"},
                                                 {"buffer", "size"},
                                                 {"buffer-time", "time"},
                                                 {"drop-oldest", ""},
                                                 {"drop-newest", ""},
                                                 {"copy", ""},
                                                 {"block", ""}};
  return result;
}

std::string lower(std::string x) {
  for (auto& c : x)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return x;
}

/// The word that is meant: as in PRRTE, in any case, and as short as it is the
/// only one that begins so.
caf::expected<std::string> full_word(const std::string& given) {
  const auto x = lower(given);
  auto found = std::vector<std::string_view>{};
  const auto look_in = [&](const auto& words) {
    for (const auto& entry : words) {
      if (entry.first == x)
        found.insert(found.begin(), entry.first);
      else if (entry.first.substr(0, x.size()) == x)
        found.push_back(entry.first);
    }
  };
  look_in(format_words());
  look_in(other_words());
  look_in(special_words());
  if (x.empty() || found.empty())
    return refuse("does not know \"" + given
                  + "\"; see what --output takes by --help");
  if (found.front() == x || found.size() == 1)
    return std::string{found.front()};
  auto all = std::string{};
  for (const auto& word : found)
    all += (all.empty() ? "" : ", ") + std::string{word};
  return refuse("\"" + given + "\" may be any of " + all
                + "; write the word in full");
}

caf::error read_policy(io_policy to, words_read& x) {
  if (x.policy != io_policy::block && x.policy != to)
    return refuse("drop-oldest and drop-newest exclude each other; give one "
                  "of them");
  x.policy = to;
  return caf::none;
}

/// What PRRTE lets follow a word or a name, such as `out:nocopy`.
/// @returns whether there is such a qualifier.
bool read_qualifier(const std::string& given, words_read& x) {
  const auto word = lower(given);
  if (word == "nocopy")
    x.file_only = true;
  else if (word == "pattern")
    x.file_is_pattern = true;
  else if (word == "raw")
    x.format.raw = true;
  else
    return word == "copy";
  return true;
}

/// A name without its qualifiers; other colons are part of it.
std::string without_qualifiers(std::string name, words_read& x) {
  for (;;) {
    const auto colon = name.rfind(':');
    if (colon == std::string::npos
        || !read_qualifier(name.substr(colon + 1), x))
      return name;
    name.erase(colon);
  }
}

caf::error read_name(const std::string& word, const std::string& given,
                     const std::string& here, words_read& x) {
  auto name = without_qualifiers(given, x);
  if (name.empty())
    return refuse(word + "= needs a name, such as " + word + "=out");
  if (!x.file.empty() || !x.directory.empty())
    return refuse("takes one of file=FILE and dir=DIR, once");
  if (name.front() != '/')
    name.insert(0, here + "/");
  (word.front() == 'f' ? x.file : x.directory) = std::move(name);
  return caf::none;
}

caf::error read_number(const std::string& word, const std::string& given,
                       words_read& x) {
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

/// A word without a value, with its qualifiers.
caf::error read_flag(const std::string& word, words_read& x) {
  if (word == "raw") {
    x.only_bytes = true;
    x.format.raw = true;
  } else if (const auto i = format_words().find(word);
             i != format_words().end()) {
    x.format.*(i->second) = true;
  } else if (const auto j = other_words().find(word);
             j != other_words().end()) {
    x.*(j->second) = true;
  } else if (word == "drop-oldest") {
    return read_policy(io_policy::drop_oldest, x);
  } else if (word == "drop-newest") {
    return read_policy(io_policy::drop_newest, x);
  }
  return caf::none;
}

caf::error read_word(const std::string& item, const std::string& here,
                     words_read& x) {
  const auto split = item.find_first_of("=:");
  auto rest = split == std::string::npos ? std::string{} : item.substr(split);
  auto word = std::string{};
  if (split != 0) {
    auto full = full_word(item.substr(0, split));
    if (!full)
      return std::move(full.error());
    word = std::move(*full);
  }
  const auto i = special_words().find(word);
  const auto takes =
    i == special_words().end() ? std::string_view{} : i->second;
  if (takes.empty()) {
    while (!rest.empty() && rest.front() == ':') {
      const auto end = std::min(rest.find(':', 1), rest.size());
      const auto qualifier = rest.substr(1, end - 1);
      if (!read_qualifier(qualifier, x))
        return refuse("\"" + item
                      + "\": only nocopy, copy, pattern and raw "
                        "may follow a colon");
      rest.erase(0, end);
    }
    if (!rest.empty())
      return refuse("\"" + item + "\": " + word
                    + " takes no value; leave it out");
    return read_flag(word, x);
  }
  const auto given =
    !rest.empty() && rest.front() == '=' ? rest.substr(1) : std::string{};
  if (takes == "name")
    return read_name(word, given, here, x);
  if (given.empty())
    return refuse(word + " needs a value, such as " + word
                  + (takes == "time" ? "=2" : "=1M"));
  return read_number(word, given, x);
}

/// Forms of lines that say whose they are.
bool has_marks(const output_format& x) {
  return x.label || x.rank || x.tag || x.tag_detailed || x.tag_fullname;
}

caf::error check(const words_read& x) {
  const auto& f = x.format;
  if (f.json && (f.xml || has_marks(f)))
    return refuse("json says whose each line is; leave out the other forms");
  if (x.only_bytes && (f.json || f.xml || has_marks(f) || f.timestamp))
    return refuse("raw is the bytes as they come; leave out the other forms, "
                  "or write tag:raw for marks in front of what comes at once");
  if (x.file_is_pattern && x.file.empty())
    return refuse("pattern is about file=FILE, which is missing; add it");
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
  auto result = words_read{};
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
  return output_options{std::move(result)};
}

caf::error check_viewer(const output_options& x) {
  if (!x.file.empty() || !x.directory.empty())
    return refuse("file= and dir= are for whoever starts the job; redirect "
                  "the output of this command");
  if (x.merge)
    return refuse("merge is for whoever starts the job; leave it out");
  if (x.tail)
    return refuse("tail= is for whoever starts the job; leave it out");
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

caf::error add_flags(bool label, bool timestamp, bool json, output_options& x) {
  auto& f = x.format;
  const auto has_tag = f.rank || f.tag || f.tag_detailed || f.tag_fullname;
  if (json && (has_tag || f.xml || f.label || f.raw))
    return make_error(status::bad_param,
                      "--json says whose each line is; leave out the other "
                      "forms of --output");
  if (f.raw && !has_tag && !f.label && (label || timestamp))
    return make_error(status::bad_param,
                      "--output raw is the bytes as they come; leave out -l "
                      "and --timestamp, or write --output label:raw for marks "
                      "in front of what comes at once");
  f.label = f.label || label;
  f.timestamp = f.timestamp || timestamp;
  f.json = f.json || json;
  f.iso_time = timestamp;
  return caf::none;
}

std::string_view document_begin(const output_format& format) noexcept {
  return format.xml ? "<troupe>\n" : "";
}

std::string_view document_end(const output_format& format) noexcept {
  return format.xml ? "</troupe>\n" : "";
}

// -- output that cannot be written any more ----------------------------------

std::string unwritten_notice(const std::string& reason) {
  return "standard output is not written any more (" + reason
         + "): what processes write is discarded, and the job goes on";
}

bool is_unread(int error, const output_options& x) {
  return error == EPIPE && x.file.empty() && x.directory.empty();
}

int status_of_output(int error, int status, const output_options& x,
                     bool lacks_output) {
  if (status != 0)
    return status;
  if (is_unread(error, x))
    return unread_status;
  return error != 0 || lacks_output ? cannot_write : 0;
}

} // namespace troupe
