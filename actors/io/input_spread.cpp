#include "actors/io/input_spread.hpp"

#include "actors/io/io_options.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace troupe {

// -- to the nodes of one job

namespace {

std::vector<proc_id> procs_of(const io_input& what) {
  auto result = std::vector<proc_id>{};
  for (const auto rank : what.ranks)
    result.push_back({what.nspace, rank});
  return result;
}

/// Input on its way to several nodes.
struct input_round {
  io_input_taken result;
  bool has_offset = false;
  caf::error why;

  void take(const io_input_taken& x) {
    result.readers += x.readers;
    result.closed.insert(result.closed.end(), x.closed.begin(), x.closed.end());
    if (x.readers == 0)
      return;
    result.offset = has_offset ? std::min(result.offset, x.offset) : x.offset;
    has_offset = true;
  }

  void refuse(const caf::error& x, const std::vector<proc_id>& procs) {
    // A process of a lost node, or of none any more, reads nothing any more.
    if (status_of(x) != status::unreach && status_of(x) != status::not_found
        && !why)
      why = x;
    result.closed.insert(result.closed.end(), procs.begin(), procs.end());
  }

  caf::expected<io_input_taken> outcome() {
    if (why && result.readers == 0)
      return std::move(why);
    return std::move(result);
  }
};

/// The processes that are meant, by node. Ranks that the job does not have are
/// left out.
std::map<uint32_t, std::vector<proc_id>> targets_of(const job_locations& places,
                                                    const io_input& what) {
  const auto procs = procs_of(what);
  auto result = std::map<uint32_t, std::vector<proc_id>>{};
  for (const auto node : places.nodes_of(procs))
    result[node] = places.procs_on(node, procs);
  return result;
}

} // namespace

void spread_input(const job_locations& places, const io_input& what,
                  const input_sender& send, input_taken_callback done) {
  const auto round = all_of<input_round>{
    {}, [done = std::move(done)](input_round& x) { done(x.outcome()); }};
  const auto is_for_all =
    std::find(what.ranks.begin(), what.ranks.end(), rank_wildcard)
    != what.ranks.end();
  for (auto& [node, procs] : targets_of(places, what)) {
    auto part = what;
    part.ranks.clear();
    if (is_for_all)
      part.ranks.push_back(rank_wildcard);
    else
      for (const auto& proc : procs)
        part.ranks.push_back(proc.rank);
    round.add();
    send(node, std::move(part),
         [round, procs = std::move(procs)](caf::expected<io_input_taken> x) {
           if (x)
             round->take(*x);
           else
             round->refuse(x.error(), procs);
           round.done();
         });
  }
  round.done();
}

caf::error keep_input_of(const job_locations& places, uint32_t node,
                         io_input& what) {
  const auto procs = procs_of(what);
  what.ranks.clear();
  for (const auto& proc : places.procs_on(node, procs))
    what.ranks.push_back(proc.rank);
  if (what.ranks.empty())
    return make_error(status::not_found,
                      "none of the processes runs on this node");
  return {};
}

// -- in pieces

namespace {

/// Most bytes on their way to a process; it takes two pieces meanwhile.
constexpr auto most_under_way = 2 * defaults::io_window;
static_assert(most_under_way <= defaults::io_input_window);

/// `size` bytes of input from `at`.
io_input piece_of(const io_input& whole, size_t at, size_t size) {
  auto result = io_input{};
  result.nspace = whole.nspace;
  result.ranks = whole.ranks;
  result.bytes = whole.bytes.substr(at, size);
  if (whole.offset)
    result.offset = *whole.offset + at;
  result.is_end = whole.is_end && at + size >= whole.bytes.size();
  return result;
}

} // namespace

void input_spread::give(io_input what, const input_taken_callback& done) {
  const auto nspace = what.nspace;
  if (places_.knows(nspace)) {
    send_pieces(std::move(what), done);
    return;
  }
  out_.locate(nspace, [this, what = std::move(what),
                       done](const caf::error& why) mutable {
    if (why)
      done(why);
    else
      send_pieces(std::move(what), done);
  });
}

/// Input in pieces, in their order, as what the processes are given at once is
/// bounded.
void input_spread::send_pieces(io_input what,
                               const input_taken_callback& done) {
  constexpr auto most = defaults::io_window;
  const auto all = what.bytes.size();
  const auto whole = std::make_shared<const io_input>(std::move(what));
  if (all <= most) {
    add_piece(whole, 0, all, done);
    return;
  }
  // What has become of the last is what has become of all.
  using taken = caf::expected<io_input_taken>;
  const auto pieces =
    all_of<taken>{io_input_taken{}, [done](taken& x) { done(std::move(x)); }};
  const auto one = [pieces](taken x) {
    *pieces = std::move(x);
    pieces.done();
  };
  for (size_t at = 0; at < all; at += most) {
    pieces.add();
    add_piece(whole, at, std::min(most, all - at), one);
  }
  pieces.done();
}

/// Puts a piece behind what is on its way to the same processes; it is copied
/// when its turn has come.
void input_spread::add_piece(const std::shared_ptr<const io_input>& what,
                             size_t at, size_t size,
                             input_taken_callback done) {
  const auto to = line_key{what->nspace, what->ranks};
  lines_[to].waiting.emplace_back(
    [this, to, what, at, size, done = std::move(done)] {
      lines_[to].bytes += size;
      spread_input(places_, piece_of(*what, at, size), out_.send,
                   [this, to, size, done](caf::expected<io_input_taken> x) {
                     lines_[to].bytes -= size;
                     done(std::move(x));
                     send_waiting(to);
                   });
    });
  send_waiting(to);
}

/// Sends what may be on its way.
void input_spread::send_waiting(const line_key& to) {
  for (auto i = lines_.find(to); i != lines_.end(); i = lines_.find(to)) {
    auto& x = i->second;
    if (x.waiting.empty()) {
      if (x.bytes == 0)
        lines_.erase(i);
      return;
    }
    if (x.bytes + defaults::io_window > most_under_way)
      return;
    const auto next = std::move(x.waiting.front());
    x.waiting.pop_front();
    next();
  }
}

// -- to several jobs

caf::error check_push(const io_push_request& request) {
  if (auto why = check_required(io_call::push, request.directives))
    return why;
  if (request.targets.empty())
    return make_error(status::bad_param, "name the processes that read");
  return {};
}

caf::error nobody_reads(const proc_id& target) {
  return make_error(status::iof_complete,
                    "nobody reads the input of " + to_string(target));
}

push_round::push_round(const io_push_request& request, completion done)
  : all_({}, [done = std::move(done),
              is_end = flag(request.directives, attr::iof_push_stdin)
                       && (!request.bytes || request.bytes->empty())](
               const taken& x) { done(outcome_of(x, is_end)); }) {
  // nop
}

caf::error push_round::outcome_of(const taken& x, bool is_end) {
  if (x.why)
    return x.why;
  // OpenPMIx's tools forward their end of input again and again until they
  // are told that it is complete; and what nobody reads is complete, too.
  if (x.readers == 0)
    return make_error(status::iof_complete, "nobody reads the input");
  if (is_end)
    return make_error(status::iof_complete, "the input has ended");
  return {};
}

void push_round::take(const caf::expected<io_input_taken>& x) const {
  if (x)
    all_->readers += x->readers;
  else if (status_of(x.error()) != status::not_found)
    all_->why = x.error();
  all_.done();
}

io_input input_spread::input_of(const io_push_request& request,
                                const std::string& nspace, uint32_t reading,
                                uint32_t size) {
  auto result = io_input{};
  result.nspace = nspace;
  for (const auto& x : request.targets) {
    if (x.nspace != nspace || reading == rank_undef)
      continue;
    if (reading == rank_wildcard && (x.rank == rank_wildcard || x.rank < size))
      result.ranks.push_back(x.rank);
    else if (x.rank == reading || x.rank == rank_wildcard)
      result.ranks.push_back(reading);
  }
  result.offset = number<uint64_t>(request.directives, io_offset_key);
  result.is_end = !request.bytes || request.bytes->empty()
                  || flag(request.directives, attr::iof_complete);
  return result;
}

void input_spread::push(io_push_request& request, targets to,
                        push_round::completion done) {
  const auto round = push_round{request, std::move(done)};
  for (auto i = to.begin(); i != to.end();)
    i = i->second.ranks.empty() ? to.erase(i) : std::next(i);
  auto left = to.size();
  for (auto& [nspace, what] : to) {
    // The last job has the memory of the request: most requests name one job.
    if (request.bytes)
      what.bytes = --left == 0 ? std::move(*request.bytes) : *request.bytes;
    round.expect();
    give(std::move(what),
         [round](const caf::expected<io_input_taken>& x) { round.take(x); });
  }
  round.close();
}

} // namespace troupe
