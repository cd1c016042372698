#include "tools/run_help.hpp"

#include "tools/option_words.hpp"

#include <CLI/CLI.hpp>

#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What does not fit behind an option in the list.
constexpr std::pair<std::string_view, std::string_view> pages[] = {
  {"--map-by", R"(--map-by POLICY[:MODIFIER]...: where processes go.

  slot           a node is filled before the next (default)
  node           to one node after the other
  hwthread, core, l3cache, numa, package
                 in turn to the objects of a node
  seq            each to the next line of a host file
  ppr:N:OBJECT   N on each node, package, numa, l3cache or core
  rankfile:file=FILE
                 where a file says: `rank 0=node1 slot=0-3` a line

Modifiers:
  :PE=N          N processors for each process
  :SPAN          take the objects of all nodes as those of one
  :NOLOCAL       leave out the node of the launcher
  :OVERSUBSCRIBE, :NOOVERSUBSCRIBE
                 more processes than slots, or none
  :HWTCPUS, :CORECPUS
                 a processor is a hardware thread, or a core

-N N is ppr:N:node; --oversubscribe, --nolocal, --rankfile FILE, --bynode and
--cpus-per-proc N are the same as their modifiers and policies.
)"},
  {"--rank-by", R"(--rank-by POLICY: how ranks follow one another.

  slot, fill     on a node, then on the next (default)
  node           from node to node
  span           from object to object over all nodes
)"},
  {"--bind-to",
   R"(--bind-to OBJECT[:MODIFIER]: which processors a process may use.

  none           all
  hwthread, core, l3cache, numa, package
                 those of an object of the node

Modifiers:
  :overload-allowed   more processes than processors on an object
  :if-supported       no error where binding is not possible

--report-bindings shows what came of it.
)"},
  {"--host", R"(--host LIST: the nodes, with commas between.

  n1             one process; once more for each repetition
  n1:4           four
  n1:*           as many as it has cores
  n[01-16]:4     n01 to n16, four each

With --dvm: which of the DVM's nodes. In a program behind a colon: where that
program runs, of the nodes of the whole job.
)"},
  {"--hostfile", R"(--hostfile FILE: the nodes, one a line.

  n1                  as many processes as cores
  n1 slots=4          four
  n1:4                the same, as MPICH writes it
  n1 slots=4 max_slots=8

`#` begins a comment.
)"},
  {"--export",
   R"(--export LIST: which variables of this shell the processes get.

  ALL            all; in a DVM, too, whose processes have those of its daemons
  NONE           none but PATH
  A,B=c          A as it is here, B as it is given, and no others
  ALL,B=c        all, and B

Without it processes of this launcher get all, those of a DVM that is up get
Open MPI's settings. -x NAME, -x NAME=VALUE and -x BEGIN* add some.
)"},
  {"--timeout",
   R"(--timeout TIME: the longest run; then the job ends with status 124.

  90             seconds
  5m, 1h30m, 2d  with units
  MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS

--time TIME is the same as srun has it: a number counts minutes.
)"},
};

/// The word with the dashes it has in tables.
const CLI::Option* our_option(const std::string& bare, const CLI::App& ours) {
  if (bare.size() == 1)
    return ours.get_option_no_throw("-" + bare);
  return ours.get_option_no_throw("--" + bare);
}

std::string about_word(const option_word& word) {
  auto result = std::string{word.name};
  switch (word.fate) {
    case word_fate::translated:
      result += " of other launchers is here";
      for (const auto& option : translate(word, {"VALUE", "VALUE"}))
        result += " " + option;
      break;
    case word_fate::left_out:
      result += " has no meaning here and is left out: ";
      result += word.text;
      break;
    case word_fate::refused:
      result += " is not done here: ";
      result += word.text;
      break;
  }
  return result + "\n";
}

} // namespace

std::optional<std::string> help_about(const std::string& topic,
                                      const CLI::App& ours) {
  const auto begin = topic.find_first_not_of('-');
  if (begin == std::string::npos)
    return std::nullopt;
  const auto bare = topic.substr(begin);
  if (const auto* option = our_option(bare, ours)) {
    for (const auto& [name, page] : pages)
      if (option->check_name(std::string{name}))
        return std::string{page};
    return option->get_name(false, true) + ": " + option->get_description()
           + "\n";
  }
  if (bare == "words") {
    auto result = std::string{};
    for (const auto& word : all_words())
      result += about_word(word);
    return result;
  }
  const auto* word = find_word((bare.size() == 1 ? "-" : "--") + bare);
  if (word == nullptr)
    return std::nullopt;
  return about_word(*word);
}

} // namespace troupe
