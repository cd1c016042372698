#include "actors/monitors/stack_taker.hpp"

#include "actors/monitors/reactions.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <iterator>
#include <utility>

namespace troupe {

namespace {

info_result stack_answer(std::string_view key, std::string text) {
  return {{make_info(key, value::string(std::move(text)))}, true};
}

info_result no_stack(std::string why) {
  return stack_answer(stack_trouble_key, std::move(why));
}

/// The beginning of what a command has written.
std::string beginning_of(const command_result& x) {
  auto result = x.output.substr(0, defaults::stack_bytes);
  if (x.is_truncated || result.size() < x.output.size())
    result += "\n(more)\n";
  return result;
}

info_result answer_of(const command_result& x) {
  if (x.timed_out)
    return no_stack("it was not over in time");
  if (x.exit_code == 0 && x.signal == 0)
    return stack_answer(stack_key, beginning_of(x));
  return no_stack(x.output.empty() ? "what takes stacks has failed"
                                   : beginning_of(x));
}

} // namespace

caf::expected<proc_id> stack_target(const monitor_request& request) {
  const auto* named = find(request.directives, attr::monitor_target_procs);
  auto procs = named != nullptr ? procs_of(*named) : std::vector<proc_id>{};
  if (procs.size() != 1 || procs.front().rank > rank_valid_max)
    return make_error(status::bad_param,
                      "a stack is that of one process: "
                      "PMIX_MONITOR_TARGET_PROCS must name one");
  return std::move(procs.front());
}

size_t stack_taker::running() const {
  auto result = size_t{0};
  for (const auto& [proc, x] : courses_)
    result += x.askers.empty() ? 0 : 1;
  return result;
}

void stack_taker::take(const proc_id& proc, completion<info_result> done) {
  const auto now = out_.now();
  for (auto i = courses_.begin(); i != courses_.end();)
    i = i->second.askers.empty() && i->second.free_at <= now ? courses_.erase(i)
                                                             : std::next(i);
  if (const auto i = courses_.find(proc); i != courses_.end()) {
    auto& askers = i->second.askers;
    if (askers.empty())
      done(no_stack("its stack was taken a moment ago; ask again in a second"));
    else if (askers.size() >= defaults::stack_askers)
      done(no_stack("many wait for its stack; ask again in a moment"));
    else
      askers.push_back(std::move(done));
    return;
  }
  if (running() >= defaults::stacks_at_a_time) {
    done(no_stack("other stacks are being taken on its node; ask again in a "
                  "moment"));
    return;
  }
  courses_[proc].askers.push_back(std::move(done));
  out_.probe(probe_process{proc, 0},
             [this, proc](caf::expected<process_probe> x) {
               if (x)
                 run(proc, x->pid);
               else
                 end(proc, x.error());
             });
}

void stack_taker::run(const proc_id& proc, uint32_t pid) {
  auto command = run_command{};
  command.argv = {"/bin/sh", "-c", stack_command};
  command.env = {"TROUPE_MONITOR_PID=" + std::to_string(pid)};
  command.limit = defaults::stack_time;
  out_.run(std::move(command), [this, proc](caf::expected<command_result> x) {
    courses_[proc].free_at = out_.now() + defaults::stack_pause;
    if (x)
      end(proc, answer_of(*x));
    else
      end(proc, no_stack(reason_of(x.error())));
  });
}

void stack_taker::end(const proc_id& proc,
                      const caf::expected<info_result>& what) {
  const auto i = courses_.find(proc);
  if (i == courses_.end())
    return;
  const auto askers = std::exchange(i->second.askers, {});
  if (!what)
    courses_.erase(i);
  for (const auto& x : askers)
    x(what);
}

} // namespace troupe
