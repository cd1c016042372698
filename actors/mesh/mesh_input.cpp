#include "actors/io/push_round.hpp"
#include "actors/jobs/io_directives.hpp"
#include "actors/mesh/input_spread.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

// What processes read: it comes from the node where their job was asked for, or
// by way of the root from whoever may control the job; each node of the named
// processes gets it once.
// Source: guarantees 5.7, "stdin"; A46.

namespace troupe::mesh_internals {

namespace {

void send_input(self_pointer self, const io_input& what,
                completion<io_input_taken> done) {
  spread_input(
    self->state.locations, what,
    [self](uint32_t node, io_input part, input_taken_callback then) {
      ask(self, node, std::move(part),
          reply_to<io_input_taken>(std::move(then)));
    },
    std::move(done));
}

/// Most bytes on their way to a process; it takes two pieces meanwhile.
constexpr auto most_under_way = 2 * defaults::io_window;
static_assert(most_under_way <= defaults::io_input_window);

/// Sends what may be on its way.
void send_waiting(self_pointer self,
                  const std::pair<std::string, std::vector<uint32_t>>& to) {
  auto& lines = self->state.inputs;
  for (auto i = lines.find(to); i != lines.end(); i = lines.find(to)) {
    auto& line = i->second;
    if (line.waiting.empty()) {
      if (line.bytes == 0)
        lines.erase(i);
      return;
    }
    if (line.bytes + defaults::io_window > most_under_way)
      return;
    const auto next = std::move(line.waiting.front());
    line.waiting.pop_front();
    next();
  }
}

/// What one call brings, of which a piece is copied when its turn has come.
using whole_input = std::shared_ptr<const io_input>;

/// `size` bytes of it from `at`.
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

/// Puts a piece of input behind what is on its way to the same processes.
void add_piece(self_pointer self, const whole_input& what, size_t at,
               size_t size, completion<io_input_taken> done) {
  const auto to = std::pair{what->nspace, what->ranks};
  self->state.inputs[to].waiting.emplace_back(
    [self, to, what, at, size, done = std::move(done)] {
      self->state.inputs[to].bytes += size;
      send_input(self, piece_of(*what, at, size),
                 [self, to, size, done](caf::expected<io_input_taken> x) {
                   self->state.inputs[to].bytes -= size;
                   done(std::move(x));
                   send_waiting(self, to);
                 });
    });
  send_waiting(self, to);
}

/// Input in pieces, in their order, as what the processes are given at once is
/// bounded.
void send_pieces(self_pointer self, io_input what,
                 completion<io_input_taken> done) {
  constexpr auto most = defaults::io_window;
  const auto all = what.bytes.size();
  const auto whole = std::make_shared<const io_input>(std::move(what));
  if (all <= most) {
    add_piece(self, whole, 0, all, std::move(done));
    return;
  }
  auto left = std::make_shared<size_t>((all + most - 1) / most);
  // What has become of the last is what has become of all.
  const auto one = [left, done](caf::expected<io_input_taken> x) {
    if (--*left == 0)
      done(std::move(x));
  };
  for (size_t at = 0; at < all; at += most)
    add_piece(self, whole, at, std::min(most, all - at), one);
}

} // namespace

void pass_input(self_pointer self, io_input what,
                completion<io_input_taken> done) {
  const auto nspace = what.nspace;
  if (self->state.locations.knows(nspace)) {
    send_pieces(self, std::move(what), std::move(done));
    return;
  }
  locate(self, nspace,
         [self, what = std::move(what), done](const caf::error& why) mutable {
           if (why)
             done(why);
           else
             send_pieces(self, std::move(what), done);
         });
}

void take_input(self_pointer self, uint32_t from, io_input& what,
                completion<io_input_taken> done) {
  auto& state = self->state;
  const auto own = state.options.rank;
  const auto i = state.streams.find(what.nspace);
  if (i == state.streams.end() || state.shares.count(what.nspace) == 0) {
    done(make_error(status::not_found, "no share of " + what.nspace));
    return;
  }
  // X41: from the origin of the job, or from the root, which knows who may.
  if (from != own && from != 0 && from != i->second.origin) {
    done(make_error(status::no_permissions,
                    "input for " + what.nspace + " comes from another node"));
    return;
  }
  auto procs = std::vector<proc_id>{};
  for (const auto rank : what.ranks)
    procs.push_back({what.nspace, rank});
  what.ranks.clear();
  for (const auto& proc : state.locations.procs_on(own, procs))
    what.ranks.push_back(proc.rank);
  if (what.ranks.empty()) {
    done(
      make_error(status::not_found, "none of the processes runs on this node"));
    return;
  }
  self->request(state.directory.io_desk, caf::infinite, std::move(what))
    .then([done](io_input_taken& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

// -- of tools
// ------------------------------------------------------------------

namespace {

/// What is pushed to processes of one job, of those that its description lets
/// read, yet without the bytes.
io_input input_of(const io_push_request& request, const std::string& nspace,
                  uint32_t reading, uint32_t size) {
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

using push_targets = std::map<std::string, io_input>;

void push(self_pointer self, io_push_request& request, push_targets targets,
          const completion<ack>& done) {
  auto round =
    std::make_shared<push_round>(request, [done](const caf::error& why) {
      if (why)
        done(why);
      else
        done(ack{});
    });
  for (auto i = targets.begin(); i != targets.end();)
    i = i->second.ranks.empty() ? targets.erase(i) : std::next(i);
  auto left = targets.size();
  for (auto& [nspace, what] : targets) {
    // The last job has the memory of the request: most requests name one job.
    if (request.bytes)
      what.bytes = --left == 0 ? std::move(*request.bytes) : *request.bytes;
    round->expect();
    pass_input(
      self, std::move(what),
      [round](const caf::expected<io_input_taken>& x) { round->take(x); });
  }
  round->close();
}

} // namespace

void push_input(self_pointer self, const requester& who,
                io_push_request& request, completion<ack> done) {
  auto& state = self->state;
  if (auto why = check_required(io_call::push, request.directives)) {
    done(std::move(why));
    return;
  }
  if (request.targets.empty()) {
    done(make_error(status::bad_param, "name the processes that read"));
    return;
  }
  auto targets = push_targets{};
  for (const auto& x : request.targets) {
    const auto i = state.streams.find(x.nspace);
    const auto is_known = i != state.streams.end() && i->second.owner
                          && i->second.origin == state.options.rank;
    if (!is_known) {
      // The root knows, and may send it to all nodes.
      ask(self, 0, ask_root{who, std::move(request)},
          reply_to<ack>(std::move(done)));
      return;
    }
    if (who.creds.uid != *i->second.owner && who.creds.uid != 0) {
      done(make_error(status::no_permissions,
                      "job " + x.nspace + " is another user's"));
      return;
    }
    if (targets.count(x.nspace) == 0)
      targets[x.nspace] = input_of(request, x.nspace, i->second.stdin_target,
                                   state.locations.size_of(x.nspace));
  }
  push(self, request, std::move(targets), std::move(done));
}

void push_at_root(self_pointer self, const requester& who,
                  io_push_request& request, completion<ack> done) {
  auto targets = push_targets{};
  for (const auto& x : request.targets) {
    const auto* job = self->state.find_job(x.nspace);
    if (job == nullptr || job->reporting) {
      // OpenPMIx's tools hang when they hear of anything else.
      done(make_error(status::iof_complete,
                      "nobody reads the input of " + to_string(x)));
      return;
    }
    if (!may_control(*job, who)) {
      done(make_error(status::no_permissions,
                      "job " + x.nspace + " is another user's"));
      return;
    }
    if (targets.count(x.nspace) == 0)
      targets[x.nspace] =
        input_of(request, x.nspace, job->options.io.stdin_target,
                 static_cast<uint32_t>(job->procs.size()));
  }
  push(self, request, std::move(targets), std::move(done));
}

} // namespace troupe::mesh_internals
