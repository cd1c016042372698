#include "actors/io/io_desk_state.hpp"

// Input for the processes of this node, each at its own position.

namespace troupe::io_desk_internals {

namespace {

/// Answers once all have been written to, or read no more.
void finish(const desk_state& state, input_call& call) {
  auto result = io_input_taken{};
  auto least = UINT64_MAX;
  auto most = uint64_t{0};
  for (const auto rank : call.ranks) {
    const auto proc = proc_id{call.nspace, rank};
    const auto i = state.inputs.find(proc);
    const auto written =
      i != state.inputs.end() ? i->second.position.written() : 0;
    most = std::max(most, written);
    if (i == state.inputs.end() || call.closed.count(rank) > 0
        || i->second.position.has_left()) {
      result.closed.push_back(proc);
    } else {
      least = std::min(least, written);
      ++result.readers;
    }
  }
  result.offset = result.readers > 0 ? least : most;
  call.reply.give(std::move(result));
}

void count_down(const desk_state& state, const input_call_ptr& call) {
  if (--call->left == 0)
    finish(state, *call);
}

/// Answers those who have waited for what has been written by now.
void release(const desk_state& state, desk_input& x) {
  const auto end = x.position.has_left()
                     ? x.waiting.end()
                     : x.waiting.upper_bound(x.position.written());
  auto ready = std::vector<input_call_ptr>{};
  for (auto i = x.waiting.begin(); i != end; ++i)
    ready.push_back(i->second);
  x.waiting.erase(x.waiting.begin(), end);
  for (const auto& call : ready)
    count_down(state, call);
}

void write(self_pointer self, const proc_id& proc, std::string bytes) {
  const auto size = bytes.size();
  self
    ->request(self->state.options.launcher, caf::infinite,
              write_stdin{proc, std::move(bytes)})
    .then(
      [self, proc, size](ack) {
        const auto i = self->state.inputs.find(proc);
        if (i == self->state.inputs.end())
          return;
        i->second.position.note_written(size);
        release(self->state, i->second);
      },
      [self, proc](const caf::error& why) {
        auto& inputs = self->state.inputs;
        const auto i = inputs.find(proc);
        if (i == inputs.end())
          return;
        i->second.position.close();
        i->second.is_missing = status_of(why) == status::not_found
                               && i->second.position.written() == 0;
        release(self->state, i->second);
      });
}

} // namespace

caf::result<io_input_taken> take_input(self_pointer self, io_input& what) {
  auto& state = self->state;
  if (!state.options.launcher)
    return make_error(status::not_supported,
                      "the input of processes is written by whoever started "
                      "them");
  std::sort(what.ranks.begin(), what.ranks.end());
  what.ranks.erase(std::unique(what.ranks.begin(), what.ranks.end()),
                   what.ranks.end());
  if (what.nspace.empty() || what.ranks.empty()
      || what.ranks.back() > rank_valid_max)
    return make_error(status::bad_param,
                      "name the processes of this node that read");
  // Who was not there is given the beginning once more, and no other part.
  for (const auto rank : what.ranks)
    if (const auto i = state.inputs.find({what.nspace, rank});
        i != state.inputs.end() && i->second.is_missing
        && what.offset.value_or(0) == 0)
      i->second = desk_input{};
  // All or none: it must not depend on the order who has got something.
  auto steps = std::map<uint32_t, process_input::step>{};
  for (const auto rank : what.ranks) {
    const auto i = state.inputs.find({what.nspace, rank});
    auto position = i != state.inputs.end()
                      ? i->second.position
                      : process_input{defaults::io_input_window};
    auto step = position.take(what.offset, what.bytes.size(), what.is_end);
    if (!step)
      return make_error(status_of(step.error()),
                        to_string(proc_id{what.nspace, rank}) + ": "
                          + reason_of(step.error()));
    steps.emplace(rank, *step);
  }
  auto promise = self->make_response_promise<io_input_taken>();
  auto call = std::make_shared<input_call>();
  call->nspace = what.nspace;
  call->ranks = what.ranks;
  call->reply = answer<io_input_taken>{promise};
  call->left = what.ranks.size() + 1;
  for (const auto& [rank, step] : steps) {
    const auto proc = proc_id{what.nspace, rank};
    auto& x = state.inputs[proc];
    const auto was_closed = x.position.is_closed();
    x.position.take(what.offset, what.bytes.size(), what.is_end);
    if (was_closed
        && step.target < what.offset.value_or(step.target) + what.bytes.size())
      call->closed.insert(rank);
    x.waiting.emplace(step.target, call);
    if (step.skip < what.bytes.size())
      write(self, proc, what.bytes.substr(step.skip));
    if (step.ends)
      self->send(state.options.launcher, close_stdin{proc});
    release(state, x);
  }
  count_down(state, call);
  return promise;
}

void forget_input(self_pointer self, const std::string& nspace) {
  auto& inputs = self->state.inputs;
  auto calls = std::vector<input_call_ptr>{};
  for (auto i = inputs.lower_bound({nspace, 0});
       i != inputs.end() && i->first.nspace == nspace; i = inputs.erase(i))
    for (auto& [target, call] : i->second.waiting)
      calls.push_back(call);
  for (const auto& call : calls)
    count_down(self->state, call);
}

void list_input(const desk_state& state, const list_io& what, io_list& result) {
  for (const auto& [proc, x] : state.inputs) {
    const auto job = state.jobs.find(proc.nspace);
    if (what.uid && (job == state.jobs.end() || !may_see(what, job->second)))
      continue;
    if (std::none_of(what.sources.begin(), what.sources.end(),
                     [&proc = proc](const auto& y) { return covers(y, proc); }))
      continue;
    auto one = io_stream_status{};
    one.stream = {proc, io_channels::stdin_};
    one.begin = one.end = x.position.written();
    one.is_over = x.position.is_closed();
    result.streams.push_back(std::move(one));
  }
}

} // namespace troupe::io_desk_internals
