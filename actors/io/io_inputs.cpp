#include "actors/io/io_inputs.hpp"

#include "actors/io/io_patterns.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace troupe {

caf::expected<process_input::step>
process_input::take(std::optional<uint64_t> offset, size_t size, bool is_end) {
  const auto begin = offset.value_or(given_);
  auto result = step{};
  if (begin > given_ && !is_closed())
    return make_error(status::bad_param,
                      "input at byte " + std::to_string(begin)
                        + " comes after a gap: continue at byte "
                        + std::to_string(given_));
  if (size > UINT64_MAX - begin)
    return make_error(status::bad_param, "input ends beyond all offsets");
  result.skip =
    is_closed() ? size
                : static_cast<size_t>(std::min<uint64_t>(size, given_ - begin));
  const auto rest = size - result.skip;
  const auto waiting = given_ - written_;
  if (rest > 0 && waiting > 0 && waiting + rest > window_)
    return make_error(status::out_of_resource,
                      std::to_string(waiting)
                        + " bytes of input wait for the process: wait for the "
                          "answers before sending more than "
                        + std::to_string(window_));
  given_ += rest;
  // Of two sources that know nothing of each other, the one that is behind
  // does not end the input of the other.
  result.ends = is_end && !is_closed() && begin + size >= given_;
  ended_ = ended_ || result.ends;
  result.target = std::min(begin + size, given_);
  return result;
}

void process_input::note_written(size_t size) {
  written_ = std::min<uint64_t>(given_, written_ + size);
}

void process_input::close() {
  closed_ = true;
  given_ = written_;
}

io_inputs::input::input() : position(defaults::io_input_window) {
  // nop
}

io_inputs::io_inputs(effects out) : out_(std::move(out)) {
  // nop
}

/// Answers once all have been written to, or read no more.
void io_inputs::finish(const call& x) const {
  auto result = io_input_taken{};
  auto least = UINT64_MAX;
  auto most = uint64_t{0};
  for (const auto rank : x.ranks) {
    const auto proc = proc_id{x.nspace, rank};
    const auto i = inputs_.find(proc);
    const auto written = i != inputs_.end() ? i->second.position.written() : 0;
    most = std::max(most, written);
    if (i == inputs_.end() || x.closed.count(rank) > 0
        || i->second.position.has_left()) {
      result.closed.push_back(proc);
    } else {
      least = std::min(least, written);
      ++result.readers;
    }
  }
  result.offset = result.readers > 0 ? least : most;
  x.done(std::move(result));
}

void io_inputs::count_down(const call_ptr& x) const {
  if (--x->left == 0)
    finish(*x);
}

/// Answers those who have waited for what has been written by now.
void io_inputs::release(input& x) {
  const auto end = x.position.has_left()
                     ? x.waiting.end()
                     : x.waiting.upper_bound(x.position.written());
  auto ready = std::vector<call_ptr>{};
  for (auto i = x.waiting.begin(); i != end; ++i)
    ready.push_back(i->second);
  x.waiting.erase(x.waiting.begin(), end);
  for (const auto& one : ready)
    count_down(one);
}

caf::error io_inputs::take(io_input& what, completion done) {
  std::sort(what.ranks.begin(), what.ranks.end());
  what.ranks.erase(std::unique(what.ranks.begin(), what.ranks.end()),
                   what.ranks.end());
  if (what.nspace.empty() || what.ranks.empty()
      || what.ranks.back() > rank_valid_max)
    return make_error(status::bad_param,
                      "name the processes of this node that read");
  // Who was not there is given the beginning once more, and no other part.
  for (const auto rank : what.ranks)
    if (const auto i = inputs_.find({what.nspace, rank});
        i != inputs_.end() && i->second.is_missing
        && what.offset.value_or(0) == 0)
      i->second = input{};
  // All or none: it must not depend on the order who has got something.
  auto steps = std::map<uint32_t, process_input::step>{};
  for (const auto rank : what.ranks) {
    const auto i = inputs_.find({what.nspace, rank});
    auto position = i != inputs_.end() ? i->second.position : input{}.position;
    auto step = position.take(what.offset, what.bytes.size(), what.is_end);
    if (!step)
      return make_error(status_of(step.error()),
                        to_string(proc_id{what.nspace, rank}) + ": "
                          + reason_of(step.error()));
    steps.emplace(rank, *step);
  }
  auto part = std::make_shared<call>();
  part->nspace = what.nspace;
  part->ranks = what.ranks;
  part->done = std::move(done);
  part->left = what.ranks.size() + 1;
  for (const auto& [rank, step] : steps) {
    const auto proc = proc_id{what.nspace, rank};
    auto& x = inputs_[proc];
    const auto was_closed = x.position.is_closed();
    x.position.take(what.offset, what.bytes.size(), what.is_end);
    if (was_closed
        && step.target < what.offset.value_or(step.target) + what.bytes.size())
      part->closed.insert(rank);
    x.waiting.emplace(step.target, part);
    if (step.skip < what.bytes.size())
      out_.write(proc, what.bytes.substr(step.skip));
    if (step.ends)
      out_.close(proc);
    release(x);
  }
  count_down(part);
  return {};
}

void io_inputs::note_written(const proc_id& proc, size_t bytes) {
  const auto i = inputs_.find(proc);
  if (i == inputs_.end())
    return;
  i->second.position.note_written(bytes);
  release(i->second);
}

void io_inputs::note_failed(const proc_id& proc, const caf::error& why) {
  const auto i = inputs_.find(proc);
  if (i == inputs_.end())
    return;
  auto& x = i->second;
  x.position.close();
  x.is_missing =
    status_of(why) == status::not_found && x.position.written() == 0;
  release(x);
}

void io_inputs::forget(const std::string& nspace) {
  auto calls = std::vector<call_ptr>{};
  for (auto i = inputs_.lower_bound({nspace, 0});
       i != inputs_.end() && i->first.nspace == nspace; i = inputs_.erase(i))
    for (auto& [target, part] : i->second.waiting)
      calls.push_back(part);
  for (const auto& part : calls)
    count_down(part);
}

void io_inputs::list(
  const std::vector<proc_id>& sources,
  const std::function<bool(const std::string& nspace)>& may_see,
  io_list& result) const {
  for (const auto& [proc, x] : inputs_) {
    if (!may_see(proc.nspace))
      continue;
    if (std::none_of(sources.begin(), sources.end(),
                     [&proc = proc](const auto& y) { return covers(y, proc); }))
      continue;
    auto one = io_stream_status{};
    one.stream = {proc, io_channels::stdin_};
    one.begin = one.end = x.position.written();
    one.is_over = x.position.is_closed();
    result.streams.push_back(std::move(one));
  }
}

} // namespace troupe
