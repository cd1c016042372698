#include "tools/remote_shell.hpp"

#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr auto plain_characters = std::string_view{
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  "_-+=./:,@%"};

bool is_blank(char x) {
  return x == ' ' || x == '\t' || x == '\n';
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

} // namespace

caf::expected<std::vector<std::string>> split_words(std::string_view text,
                                                    const std::string& source) {
  auto result = std::vector<std::string>{};
  auto word = std::string{};
  auto has_word = false;
  auto quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const auto x = text[i];
    if (quote != '\0' ? x == quote : x == '\'' || x == '"') {
      quote = quote != '\0' ? '\0' : x;
      has_word = true;
    } else if (x == '\\' && quote != '\'') {
      if (++i == text.size())
        return make_error(status::bad_param,
                          source + " ends with a backslash; remove it");
      word += text[i];
      has_word = true;
    } else if (quote == '\0' && is_blank(x)) {
      if (has_word)
        result.push_back(std::move(word));
      word.clear();
      has_word = false;
    } else {
      word += x;
      has_word = true;
    }
  }
  if (quote != '\0')
    return make_error(status::bad_param, source
                                           + " has a quote that is not "
                                             "closed; add another "
                                           + quote);
  if (has_word)
    result.push_back(std::move(word));
  if (result.empty())
    return make_error(status::bad_param, source + " is empty; name a program");
  return result;
}

std::string quoted(const std::string& word) {
  if (!word.empty()
      && word.find_first_not_of(plain_characters) == std::string::npos)
    return word;
  auto result = std::string{"'"};
  for (const auto x : word)
    if (x == '\'')
      result += "'\\''";
    else
      result += x;
  return result + "'";
}

caf::expected<remote_shell> parse_remote_shell(std::string_view text) {
  auto words = split_words(text, "--remote-shell");
  if (!words)
    return std::move(words.error());
  auto result = remote_shell{};
  result.command = std::move(*words);
  const auto program = last_part(result.command.front());
  result.joins_words = program == "ssh" || program == "rsh";
  result.stays = program == "srun";
  return result;
}

remote_shell default_remote_shell() {
  return {{"ssh", "-x", "-o", "BatchMode=yes"}, {}, true, false};
}

remote_shell slurm_remote_shell() {
  // A step ends with its first process, and takes what it started along.
  return {{"srun", "--ntasks=1", "--nodes=1", "--overlap", "--quiet",
           "--cpu-bind=none", "--input=0", "--export=ALL"},
          "--nodelist=",
          false,
          true};
}

std::vector<std::string>
remote_command(const remote_shell& shell, const std::string& host,
               const std::vector<std::string>& program) {
  auto result = shell.command;
  result.push_back(shell.host_prefix + host);
  for (const auto& x : program)
    result.push_back(shell.joins_words ? quoted(x) : x);
  return result;
}

} // namespace troupe
