#include "actors/io/stream_spread.hpp"

#include "actors/io/io_options.hpp"
#include "base/all_of.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace troupe {

namespace {

/// Whether nothing is wanted.
bool is_empty(const io_interest& x) {
  return x.ranks.empty() || x.channels == io_channels::none;
}

/// What both want; none of the two keeps the other out.
io_interest united(const io_interest& x, const io_interest& y) {
  if (is_empty(x))
    return y;
  if (is_empty(y))
    return x;
  auto result = x;
  result.channels = united(x.channels, y.channels);
  result.ranks.insert(result.ranks.end(), y.ranks.begin(), y.ranks.end());
  std::sort(result.ranks.begin(), result.ranks.end());
  result.ranks.erase(std::unique(result.ranks.begin(), result.ranks.end()),
                     result.ranks.end());
  if (std::binary_search(result.ranks.begin(), result.ranks.end(),
                         rank_wildcard))
    result.ranks = {rank_wildcard};
  return result;
}

/// Whether they want the same.
bool same(const io_interest& x, const io_interest& y) {
  return (is_empty(x) && is_empty(y))
         || (x.ranks == y.ranks && x.channels == y.channels
             && x.window == y.window);
}

io_interest interest_in_all(const std::string& nspace, io_channels channels,
                            uint64_t window = 0) {
  if (channels == io_channels::none)
    return {nspace, {}, channels, window};
  return {nspace, {rank_wildcard}, channels, window};
}

bool wants_all(const io_interest& x) {
  return std::find(x.ranks.begin(), x.ranks.end(), rank_wildcard)
         != x.ranks.end();
}

void ignore(const caf::expected<ack>&) {
  // Nobody waits for it.
}

} // namespace

/// What each node of a job may send at once, so that a node that gets the
/// output of all holds no more than what all streams of a node may have.
/// Enough for one fragment, however many nodes there are.
uint64_t stream_spread::window_of(const std::string& nspace) const {
  const auto nodes = places_.nodes_of(nspace).size();
  return std::max<uint64_t>(defaults::io_fragment_bytes,
                            defaults::io_window_total
                              / std::max<size_t>(1, nodes));
}

/// At the root: who is to hear of jobs that this one spawns.
void stream_spread::note_watcher(const std::string& nspace, uint32_t node,
                                 const io_interest& what) {
  if (!out_->is_job(nspace))
    return;
  if (wants_all(what) && what.channels != io_channels::none)
    watchers_[nspace][node] = what.channels;
  else
    watchers_[nspace].erase(node);
}

/// Tells the nodes of a job, and the root, what is wanted here, if they do not
/// know.
void stream_spread::update(const std::string& nspace, completion<ack> done) {
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end()) {
    done(ack{});
    return;
  }
  auto& x = i->second;
  auto wanted = united(x.ours, standing_);
  wanted.nspace = nspace;
  wanted.window = window_of(nspace);
  if (same(wanted, x.told)) {
    done(ack{});
    return;
  }
  x.told = wanted;
  auto nodes = places_.hosts_of(nspace);
  if (nodes.empty() || nodes.front() != 0)
    nodes.insert(nodes.begin(), 0);
  auto all = all_of<std::monostate>{
    {}, [done = std::move(done)](std::monostate) { done(ack{}); }};
  for (const auto node : nodes) {
    if (node == self_) {
      note_watcher(nspace, node, wanted);
      continue;
    }
    all.add();
    // A node that is lost has nothing to give.
    out_->tell(node, wanted, [all](const caf::expected<ack>&) { all.done(); });
  }
  all.done();
}

// -- jobs

io_wiring stream_spread::begin(const prepare_share& order) {
  const auto& nspace = order.map.nspace;
  // The root has read them before.
  const auto read = read_io_wiring(order.request);
  auto wiring = read ? *read : io_wiring{};
  auto& x = jobs_[nspace];
  x.owner = order.parent.creds.uid;
  x.origin = order.origin;
  x.stdin_target = wiring.stdin_target;
  out_->begin_at_desk(
    {nspace, wiring, order.parent.creds.uid, places_.size_of(nspace)});
  const auto window = window_of(nspace);
  auto told = std::map<uint32_t, io_interest>{};
  told[order.origin] =
    interest_in_all(nspace, forwarded_channels(wiring), window);
  for (const auto& y : order.watchers)
    told[y.node] =
      united(told[y.node], interest_in_all(nspace, y.channels, window));
  const auto ours = told.extract(self_);
  if (!places_.ranks_on(self_, nspace).empty())
    for (auto& [node, what] : told) {
      // What it has said itself meanwhile is newer.
      const auto put = x.wanted.try_emplace(node, std::move(what));
      if (!is_empty(put.first->second))
        out_->tell_desk(node, put.first->second, ignore);
    }
  // What the nodes have been told meanwhile is newer.
  if (is_empty(x.told) && !ours.empty())
    x.told = ours.mapped();
  return wiring;
}

void stream_spread::want_nothing(const std::string& nspace) {
  if (is_empty(standing_))
    update(nspace, ignore);
}

void stream_spread::know(const std::string& nspace,
                         std::optional<uint32_t> owner) {
  const auto [i, is_new] = jobs_.try_emplace(nspace);
  const auto is_told = owner && !i->second.owner;
  if (is_told)
    i->second.owner = owner;
  // Without an owner it is nobody's but the administrator's.
  if (is_new || is_told)
    out_->begin_at_desk(
      {nspace, {}, owner.value_or(0), places_.size_of(nspace)});
}

const stream_spread::job* stream_spread::find(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  return i != jobs_.end() ? &i->second : nullptr;
}

bool stream_spread::end(const std::string& nspace) {
  return jobs_.erase(nspace) > 0;
}

std::vector<io_watcher>
stream_spread::watchers_of(const std::string& nspace, const std::string& parent,
                           const spawn_request& request) {
  auto found = std::map<uint32_t, io_channels>{};
  for (const auto& [node, what] : standing_of_)
    found[node] = what.channels;
  const auto of_parent = watchers_.find(parent);
  const auto* inherits = troupe::find(request.job_infos, attr::iof_inherit);
  // A job that is being forgotten hands nothing down.
  if (of_parent != watchers_.end() && out_->is_job(parent)
      && (inherits == nullptr || inherits->truth()))
    for (const auto& [node, channels] : of_parent->second)
      found[node] = united(found[node], channels);
  const auto live = out_->live();
  auto result = std::vector<io_watcher>{};
  for (const auto& [node, channels] : found)
    if (std::find(live.begin(), live.end(), node) != live.end())
      result.push_back({node, channels});
  for (const auto& x : result)
    watchers_[nspace][x.node] = x.channels;
  return result;
}

// -- from this node

void stream_spread::set_ours(io_interest what, completion<ack> done) {
  const auto nspace = what.nspace;
  know(nspace, std::nullopt);
  jobs_[nspace].ours = std::move(what);
  update(nspace, std::move(done));
}

void stream_spread::want(io_interest& what, completion<ack> done) {
  if (what.nspace.empty()) {
    standing_ = std::move(what);
    tell_standing(std::move(done));
    // Their own answers come with their nodes.
    for (const auto& nspace : places_.nspaces())
      update(nspace, ignore);
    return;
  }
  if (places_.knows(what.nspace)) {
    set_ours(std::move(what), std::move(done));
    return;
  }
  if (is_empty(what)) {
    done(ack{});
    return;
  }
  const auto nspace = what.nspace;
  out_->locate(nspace, [this, what = std::move(what),
                        done = std::move(done)](const caf::error& why) {
    if (why)
      done(why);
    else
      set_ours(what, done);
  });
}

void stream_spread::want_all(io_channels channels, completion<ack> done) {
  of_readers_ = channels;
  tell_standing(std::move(done));
}

/// The root has to know what is wanted here of all jobs.
void stream_spread::tell_standing(completion<ack> done) {
  auto wanted = united(standing_, interest_in_all("", of_readers_));
  wanted.nspace.clear();
  if (same(wanted, standing_told_)) {
    done(ack{});
    return;
  }
  standing_told_ = wanted;
  out_->tell(0, std::move(wanted), std::move(done));
}

void stream_spread::fetch(io_fetch& what, completion<io_fragment> done) {
  const auto node = places_.node_of(what.stream.source);
  if (!node)
    done(make_error(status::not_found,
                    "no process " + to_string(what.stream.source)));
  else
    out_->fetch(*node, std::move(what), std::move(done));
}

// -- from other nodes

void stream_spread::take(uint32_t from, io_interest& what,
                         completion<ack> done) {
  const auto nspace = what.nspace;
  if (nspace.empty()) {
    if (self_ != 0) {
      done(make_error(status::bad_param,
                      "only the root is told what is wanted of all jobs"));
      return;
    }
    if (is_empty(what))
      standing_of_.erase(from);
    else
      standing_of_[from] = std::move(what);
    done(ack{});
    return;
  }
  if (!places_.knows(nspace)) {
    if (is_empty(what)) {
      done(ack{});
      return;
    }
    // It may have heard of the job before this node does.
    out_->locate(nspace, [this, from, what = std::move(what),
                          done = std::move(done)](const caf::error& why) {
      if (why) {
        done(why);
        return;
      }
      auto copy = what;
      take(from, copy, done);
    });
    return;
  }
  if (what.ranks.size() > places_.size_of(nspace))
    what.ranks = {rank_wildcard};
  note_watcher(nspace, from, what);
  const auto i = jobs_.find(nspace);
  const auto is_begun = out_->runs_here(nspace) && i != jobs_.end();
  if (is_empty(what) && i != jobs_.end())
    i->second.wanted.erase(from);
  else if (!is_empty(what) && !places_.ranks_on(self_, nspace).empty())
    jobs_[nspace].wanted[from] = what;
  if (is_begun)
    out_->tell_desk(from, std::move(what), std::move(done));
  else
    done(ack{});
}

void stream_spread::take(uint32_t from, io_fragment& what,
                         completion<ack> done) {
  const auto channel = what.stream.channel;
  if (channel != io_channels::stdout_ && channel != io_channels::stderr_
      && channel != io_channels::stddiag)
    done(make_error(status::bad_param, "output of "
                                         + to_string(what.stream.source)
                                         + " names no channel; name one"));
  else
    out_->give_desk(from, std::move(what), std::move(done));
}

void stream_spread::take(io_fetch& what, completion<io_fragment> done) {
  const auto& source = what.stream.source;
  if (places_.node_of(source) != self_ || !out_->runs_here(source.nspace)) {
    done(make_error(status::not_found,
                    to_string(source) + " does not run on this node"));
    return;
  }
  what.size = std::min<uint64_t>(what.size, defaults::io_fragment_bytes);
  out_->fetch_at_desk(std::move(what), std::move(done));
}

void stream_spread::lose_node(uint32_t node) {
  auto what = io_node_lost{};
  what.node = node;
  for (auto& [nspace, x] : jobs_) {
    x.wanted.erase(node);
    for (const auto rank : places_.ranks_on(node, nspace))
      what.procs.push_back({nspace, rank});
  }
  standing_of_.erase(node);
  for (auto& [nspace, watchers] : watchers_)
    watchers.erase(node);
  out_->lose_at_desk(std::move(what));
}

// -- which streams there are

namespace {

/// Knowledge of all nodes, each stream once.
struct survey {
  const job_locations& places;
  std::map<std::pair<proc_id, io_channels>, io_stream_status> streams = {};

  void add(uint32_t node, io_list&& found) {
    for (auto& x : found.streams) {
      auto& to = streams[{x.stream.source, x.stream.channel}];
      auto sinks = std::move(to.sinks);
      std::move(x.sinks.begin(), x.sinks.end(), std::back_inserter(sinks));
      // Its own node knows it better than those that copy it.
      if (places.node_of(x.stream.source) == node
          || to.stream.channel == io_channels::none)
        to = std::move(x);
      to.sinks = std::move(sinks);
    }
  }

  io_list take() {
    auto result = io_list{};
    for (auto& [key, x] : streams)
      result.streams.push_back(std::move(x));
    return result;
  }
};

} // namespace

void stream_spread::list_all(const list_io& what,
                             const completion<io_list>& done) {
  auto all =
    all_of<survey>{survey{places_}, [done](survey& x) { done(x.take()); }};
  for (const auto node : out_->live()) {
    all.add();
    // A node that does not answer soon is left out.
    const auto note = [all, node](caf::expected<io_list> x) {
      if (x)
        all->add(node, std::move(*x));
      all.done();
    };
    if (node == self_)
      out_->list_at_desk(what, note);
    else
      out_->list(node, what, note);
  }
  all.done();
}

} // namespace troupe
