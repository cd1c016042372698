#include "tools/command_words.hpp"

#include "messages/status.hpp"
#include "tools/option_words.hpp"

#include <caf/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

namespace troupe {

namespace {

/// A word of the command line that begins with a dash, taken apart.
struct option_token {
  std::string name;
  std::optional<std::string> value;
};

option_token split_token(const std::string& text) {
  const auto sign = text.find('=');
  if (sign == std::string::npos)
    return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

bool takes_value(const CLI::Option& x) {
  return x.get_items_expected_max() > 0;
}

/// Whether it may be followed by its value, and need not.
bool value_is_optional(const CLI::Option& x) {
  return takes_value(x) && x.get_items_expected_min() == 0;
}

/// The first of its names; CLI11 keeps those of hidden options to itself.
std::string name_of(const CLI::Option& x) {
  return x.get_lnames().empty() ? "-" + x.get_snames().front()
                                : "--" + x.get_lnames().front();
}

/// Whether a word may be what `--dvm` names, rather than the program.
bool may_be_dvm(const std::string& word) {
  return !word.empty() && word.front() != '-' && word != ":"
         && word.find(':') <= word.find('/');
}

/// Reads a command line word by word.
class reader {
public:
  reader(const std::vector<std::string>& args, const CLI::App& ours)
    : args_(args), ours_(ours) {
    // nop
  }

  caf::expected<command_words> read() {
    result_.segments.emplace_back();
    while (at_ < args_.size() && !is_done())
      if (auto why = step())
        return why;
    return std::move(result_);
  }

private:
  bool is_done() const {
    return result_.wants_help || result_.wants_version;
  }

  command_segment& segment() {
    return result_.segments.back();
  }

  /// Reads one option with its values, or a program with its arguments.
  caf::error step() {
    const auto& word = args_[at_];
    if (word == ":") {
      ++at_;
      result_.segments.emplace_back();
      return caf::none;
    }
    if (word == "--" || word.size() < 2 || word.front() != '-') {
      at_ += word == "--" ? 1 : 0;
      while (at_ < args_.size() && args_[at_] != ":")
        segment().command.push_back(args_[at_++]);
      return caf::none;
    }
    ++at_;
    return read_option(word);
  }

  const CLI::Option* our_option(const std::string& name) const {
    return ours_.get_option_no_throw(name);
  }

  bool is_known(const std::string& name) const {
    return our_option(name) != nullptr || find_word(name) != nullptr
           || name == "--version" || name == "--help" || name == "--usage";
  }

  caf::error read_option(const std::string& typed) {
    auto token = split_token(typed);
    if (token.name.compare(0, 2, "--") == 0)
      return read_known(typed, token);
    // A long name with one dash, as mpirun takes it.
    if (token.name.size() > 2 && is_known("-" + token.name)) {
      token.name.insert(0, 1, '-');
      return read_known(typed, token);
    }
    if (token.name.size() == 2)
      return read_known(typed, token);
    return read_cluster(typed);
  }

  /// Reads `-n4`, or flags of a letter each.
  caf::error read_cluster(const std::string& typed) {
    const auto first = typed.substr(0, 2);
    const auto* option = our_option(first);
    const auto* word = find_word(first);
    if ((option != nullptr && takes_value(*option))
        || (option == nullptr && word != nullptr && word->values == 1))
      return read_known(first, {first, typed.substr(2)});
    for (size_t i = 1; i < typed.size(); ++i) {
      const auto* flag = our_option({'-', typed[i]});
      if (flag == nullptr || takes_value(*flag))
        return unknown(typed);
    }
    for (size_t i = 1; i < typed.size(); ++i)
      if (auto why = read_known(typed, {{'-', typed[i]}, std::nullopt}))
        return why;
    return caf::none;
  }

  caf::error read_known(const std::string& typed, const option_token& x) {
    if (x.name == "--help" || x.name == "-h" || x.name == "--usage") {
      result_.wants_help = true;
      result_.topic = x.value              ? *x.value
                      : at_ < args_.size() ? args_[at_]
                                           : std::string{};
      return caf::none;
    }
    if (x.name == "--version" || x.name == "-V") {
      result_.wants_version = true;
      return caf::none;
    }
    const auto name = split_token(typed).name;
    if (const auto* option = our_option(x.name))
      return take_ours(name, x, *option, "");
    if (const auto* word = find_word(x.name))
      return take_word(name, x, *word);
    return unknown(typed);
  }

  /// @param whole What was typed; empty: the name and its value.
  caf::error take_ours(const std::string& typed, const option_token& x,
                       const CLI::Option& option, std::string whole) {
    if (!takes_value(option)) {
      add(typed, option, x.value, typed);
      return caf::none;
    }
    auto value = x.value;
    if (!value && value_is_optional(option)) {
      // The last word is the program.
      if (at_ + 1 < args_.size() && may_be_dvm(args_[at_]))
        value = args_[at_++];
    } else if (!value) {
      if (at_ == args_.size())
        return make_error(
          status::bad_param,
          typed + " has no value; troupe run --help "
            + name_of(option).substr(name_of(option).find_first_not_of('-'))
            + " tells what it takes");
      value = args_[at_++];
    }
    if (whole.empty())
      whole = value ? typed + " " + *value : typed;
    if (option.get_items_expected_max() == 1) {
      const auto& given = segment().given;
      const auto before =
        std::find_if(given.begin(), given.end(),
                     [&](const auto& y) { return y.name == name_of(option); });
      if (before != given.end() && before->value != value.value_or(""))
        return make_error(status::bad_param, whole + ": there is "
                                               + before->whole
                                               + " before; give one of them");
      if (before != given.end())
        return caf::none;
    }
    add(typed, option, value, whole);
    return caf::none;
  }

  caf::error take_word(const std::string& typed, const option_token& x,
                       const option_word& word) {
    auto values = std::vector<std::string>{};
    if (x.value && word.values == 0)
      return make_error(status::bad_param,
                        typed + "=" + *x.value + ": it takes no value");
    if (x.value)
      values.push_back(*x.value);
    while (static_cast<int>(values.size()) < word.values) {
      if (at_ == args_.size())
        return make_error(
          status::bad_param,
          typed + " takes "
            + (word.values == 1 ? "a value" : "a name and a value")
            + ", and here the command line ends");
      values.push_back(args_[at_++]);
    }
    if (word.fate == word_fate::refused)
      return make_error(status::bad_param,
                        typed + " is not done here: " + std::string{word.text});
    if (word.fate == word_fate::left_out) {
      auto& all = result_.left_out;
      if (std::find(all.begin(), all.end(), typed) == all.end())
        all.push_back(typed);
      return caf::none;
    }
    auto whole = typed;
    for (const auto& value : values)
      whole += " " + value;
    for (const auto& text : translate(word, values)) {
      const auto token = text.compare(0, 2, "--") == 0
                           ? split_token(text)
                           : option_token{text.substr(0, 2), text.substr(2)};
      const auto* option = our_option(token.name);
      if (option == nullptr)
        return make_error(status::error, "no option " + token.name);
      // `--dvm` alone takes nothing that follows.
      if (takes_value(*option) && !token.value)
        add(typed, *option, std::nullopt, whole);
      else if (auto why = take_ours(typed, token, *option, whole))
        return why;
    }
    return caf::none;
  }

  void add(const std::string& typed, const CLI::Option& option,
           const std::optional<std::string>& value, const std::string& whole) {
    const auto name = name_of(option);
    const auto is_long = name.compare(0, 2, "--") == 0;
    segment().given.push_back({name, typed, value.value_or(""), whole});
    const auto is_bare =
      !value || (value->empty() && value_is_optional(option));
    segment().options.push_back(is_bare ? name
                                        : name + (is_long ? "=" : "") + *value);
  }

  caf::error unknown(const std::string& typed) const {
    auto names = std::vector<std::string>{};
    for (const auto* x : ours_.get_options()) {
      for (const auto& name : x->get_lnames())
        names.push_back("--" + name);
    }
    for (const auto& x : all_words())
      if (x.fate == word_fate::translated && x.name.size() > 2)
        names.emplace_back(x.name);
    auto name = split_token(typed).name;
    const auto dashes = name.compare(0, 2, "--") == 0 ? "" : "-";
    const auto near = nearest_name(dashes + name, names);
    return make_error(status::bad_param,
                      name + " is no option of troupe run; "
                        + (near ? "did you mean " + *near + "?"
                                : "troupe run --help lists them"));
  }

  const std::vector<std::string>& args_;
  const CLI::App& ours_;
  command_words result_;
  size_t at_ = 0;
};

} // namespace

caf::expected<command_words> read_words(const std::vector<std::string>& args,
                                        const CLI::App& ours) {
  return reader{args, ours}.read();
}

std::vector<std::string> typed_as(const command_segment& segment,
                                  std::initializer_list<const char*> names) {
  auto result = std::vector<std::string>{};
  for (const auto& x : segment.given)
    if (std::find(names.begin(), names.end(), x.name) != names.end())
      result.push_back(x.whole);
  return result;
}

std::string in_typed_words(const std::string& error,
                           const command_segment& segment) {
  const auto colon = error.find(": ");
  const auto name = error.substr(0, colon);
  for (auto i = segment.given.rbegin(); i != segment.given.rend(); ++i)
    if (colon != std::string::npos && i->name == name)
      return i->typed + error.substr(colon);
  return error;
}

} // namespace troupe
