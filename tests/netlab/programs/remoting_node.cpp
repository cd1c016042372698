// A node of tests/netlab/remoting.sh and threads.sh: a process with the mesh in it
// and typed actors of its own, which talk to those of other nodes by their handles.
//
//   remoting_node keys FOLDER RANK[:USER]...
//                                      credentials of a DVM for these ranks, which
//                                      say whose the node is
//   remoting_node FOLDER RANK FIFO [old]
//                                      a node; commands come by a named pipe, one
//                                      a line, and what comes of them is said on
//                                      standard output. `old` has an older form
//                                      of a message.
//
// Node 0, the root, is n1 of the lab; it takes lanes at port 7100 of its networks.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"
#include "runtime/foreign_system.hpp"
#include "runtime/mesh_member.hpp"
#include "runtime/remoting.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

// -- messages and interfaces ---------------------------------------------------

namespace lab {

/// One of a series; not answered.
struct item {
  uint64_t number = 0;
  std::string bytes;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, item& x) {
  return f(caf::meta::type_name("lab::item"), x.number, x.bytes);
}

/// So many items follow, numbered from 1; `taken` comes after so many.
struct series {
  uint64_t count = 0;
  uint64_t taken_every = 1;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, series& x) {
  return f(caf::meta::type_name("lab::series"), x.count, x.taken_every);
}

/// Items that have come, and those of them that were not the next.
struct taken {
  uint64_t count = 0;
  uint64_t faults = 0;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, taken& x) {
  return f(caf::meta::type_name("lab::taken"), x.count, x.faults);
}

struct question {
  uint64_t number = 0;
  std::string bytes;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, question& x) {
  return f(caf::meta::type_name("lab::question"), x.number, x.bytes);
}

struct reply {
  uint64_t number = 0;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, reply& x) {
  return f(caf::meta::type_name("lab::reply"), x.number);
}

bool has_old_forms = false;

/// A message that has got a member with a later version of the program.
struct reading {
  uint64_t number = 0;
  std::string unit;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, reading& x) {
  if (has_old_forms)
    return f(caf::meta::type_name("lab::reading"), x.number);
  return f(caf::meta::type_name("lab::reading"), x.number, x.unit);
}

/// A message that nodes with old forms do not know.
struct novelty {
  uint64_t number = 0;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, novelty& x) {
  return f(caf::meta::type_name("lab::novelty"), x.number);
}

/// Hears how far a sink is.
using counter_actor = caf::typed_actor<caf::reacts_to<taken>>;

/// Takes a series.
using sink_actor = caf::typed_actor<caf::reacts_to<item>>;

/// Answers questions with even numbers, and those with odd ones never.
using desk_actor = caf::typed_actor<caf::replies_to<question>::with<reply>,
                                    caf::replies_to<reading>::with<reply>>;

} // namespace lab

CAF_BEGIN_TYPE_ID_BLOCK(remoting_lab, caf::id_block::troupe_actors::end)

  CAF_ADD_TYPE_ID(remoting_lab, (lab::item))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::series))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::taken))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::question))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::reply))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::reading))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::novelty))
  CAF_ADD_TYPE_ID(remoting_lab, (lab::counter_actor))

CAF_END_TYPE_ID_BLOCK(remoting_lab)

namespace {

using namespace troupe;
using namespace std::chrono_literals;
using lab_clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "remoting_node: %s\n", why.c_str());
  std::_Exit(1);
}

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    fail(reason_of(x.error()));
  return std::move(*x);
}

/// Says what has come of something, after the seconds of a steady clock.
void say(const std::string& what) {
  const auto now = std::chrono::duration<double>(
    std::chrono::steady_clock::now().time_since_epoch());
  std::printf("%.3f %s\n", now.count(), what.c_str());
  std::fflush(stdout);
}

// -- actors that others reach --------------------------------------------------

struct sink_state {
  uint64_t count = 0;
  uint64_t faults = 0;
};

lab::sink_actor::behavior_type
sink(lab::sink_actor::stateful_pointer<sink_state> self, lab::series all,
     const lab::counter_actor& counter) {
  return {[=](const lab::item& x) {
    auto& state = self->state;
    if (x.number != ++state.count)
      ++state.faults;
    if (state.count % all.taken_every == 0 || state.count == all.count)
      self->send(counter, lab::taken{state.count, state.faults});
  }};
}

struct desk_state {
  std::vector<caf::typed_response_promise<lab::reply>> owed;
};

lab::desk_actor::behavior_type
desk(lab::desk_actor::stateful_pointer<desk_state> self) {
  return {[self](const lab::question& x) -> caf::result<lab::reply> {
            if (x.number % 2 == 0)
              return lab::reply{x.number};
            self->state.owed.push_back(
              self->make_response_promise<lab::reply>());
            return self->state.owed.back();
          },
          [](const lab::reading& x) { return lab::reply{x.number}; }};
}

// -- what this node does with those of others ----------------------------------

/// A series for a sink of one's own on another node.
struct flood {
  uint32_t rank = 0;
  lab::series all;
  std::string bytes;

  /// How far it may be ahead of the sink; 0: as the gateway has room.
  uint64_t window = 0;

  /// What its lines begin with.
  std::string label;
};

struct flood_state {
  flood what;
  lab::sink_actor to;
  uint64_t sent = 0;
  bool is_amid = false;
  lab_clock::time_point begin = lab_clock::now();
};

using flood_pointer = lab::counter_actor::stateful_pointer<flood_state>;

void send_until(flood_pointer self, uint64_t end) {
  auto& state = self->state;
  while (state.sent < std::min(end, state.what.all.count))
    self->send(state.to, lab::item{++state.sent, state.what.bytes});
}

void send_paced(flood_pointer self, const gateway_actor& gateway) {
  const auto& state = self->state;
  send_until(self, state.sent + 16);
  if (state.sent < state.what.all.count)
    self->request(gateway, caf::infinite, await_room{state.what.rank})
      .then([=](ack) { send_paced(self, gateway); });
}

lab::counter_actor::behavior_type
flooding(flood_pointer self, const gateway_actor& gateway, flood what) {
  const auto window = what.window;
  const auto name =
    what.label + (window == 0 ? "pace " : "flood ") + std::to_string(what.rank);
  self->state.what = std::move(what);
  self
    ->request(gateway, 60s,
              remoting::spawn<lab::sink_actor>(self->state.what.rank, "sink",
                                               self->state.what.all,
                                               lab::counter_actor{self}))
    .then(
      [=](const caf::strong_actor_ptr& to) {
        self->state.to = caf::actor_cast<lab::sink_actor>(to);
        say(name + " begins");
        if (window == 0)
          send_paced(self, gateway);
        else
          send_until(self, window);
      },
      [=](const caf::error& err) {
        say(name + ": " + self->system().render(err));
      });
  return {[=](const lab::taken& x) {
    if (x.count < self->state.what.all.count) {
      if (x.count > self->state.what.all.count / 8
          && !std::exchange(self->state.is_amid, true))
        say(name + " goes on");
      if (window != 0)
        send_until(self, x.count + window);
      return;
    }
    const auto time =
      std::chrono::duration<double>(lab_clock::now() - self->state.begin);
    say(name + " over: " + std::to_string(x.count) + " taken, "
        + std::to_string(x.faults) + " faults, " + std::to_string(time.count())
        + " s");
  }};
}

/// Asks a desk, one question after another, on a thread of its own.
void asking(caf::blocking_actor* self, const lab::desk_actor& to,
            uint64_t count) {
  uint64_t answers = 0;
  for (uint64_t i = 0; i < count; ++i)
    self->request(to, 60s, lab::question{2 * i, {}})
      .receive([&](const lab::reply&) { ++answers; },
               [&](const caf::error& err) {
                 say("blocking: " + self->system().render(err));
               });
  say("blocking over: " + std::to_string(answers) + " answers");
}

/// How requests and monitors have ended; of the thread of the loop.
struct tally {
  std::vector<lab::desk_actor> desks;
  /// Whoever only waits for an end ends when nobody has its handle.
  std::vector<caf::actor> watchers;

  uint64_t requests = 0;
  uint64_t answers = 0;
  uint64_t errors = 0;
  uint64_t downs = 0;

  /// What has ended a second time.
  uint64_t twice = 0;
  std::vector<bool> has_ended;
  std::vector<bool> is_down;
  std::string reason;

  void end_request(size_t i, bool is_answered) {
    twice += has_ended.at(i) ? 1 : 0;
    has_ended[i] = true;
    ++(is_answered ? answers : errors);
    tell();
  }

  void end_monitor(size_t i) {
    twice += is_down.at(i) ? 1 : 0;
    is_down[i] = true;
    ++downs;
    tell();
  }

  void tell() const {
    if (answers + errors == requests && downs == is_down.size())
      say("all ended: " + to_text());
    else if (answers * 2 == requests && errors + downs == 0)
      say("half answered");
  }

  std::string to_text() const {
    return std::to_string(answers) + " answers, " + std::to_string(errors)
           + " errors, " + std::to_string(downs) + " downs, "
           + std::to_string(twice) + " twice: " + reason;
  }
};

using tally_ptr = std::shared_ptr<tally>;

/// Is linked to an actor of another node, and says why it ends.
caf::behavior linked(caf::event_based_actor* self, const lab::desk_actor& to) {
  self->link_to(to);
  self->set_exit_handler([self](caf::exit_msg& x) {
    say("link: ours has " + self->system().render(x.reason));
    self->quit(std::move(x.reason));
  });
  return {[](int32_t x) { return x; }};
}

/// Asks a desk, and notes how it ends.
void ask(caf::event_based_actor* self, const tally_ptr& all,
         const lab::desk_actor& to, size_t i, std::string bytes) {
  self->request(to, caf::infinite, lab::question{i, std::move(bytes)})
    .then([=](const lab::reply& x) { all->end_request(x.number, true); },
          [=](const caf::error& err) {
            all->reason = self->system().render(err);
            all->end_request(i, false);
          });
}

/// Monitors all desks.
caf::behavior watching(caf::event_based_actor* self, const tally_ptr& all,
                       size_t number) {
  auto index = std::map<caf::actor_addr, size_t>{};
  for (const auto& x : all->desks) {
    index.emplace(x.address(), number * all->desks.size() + index.size());
    self->monitor(x);
  }
  self->set_down_handler(
    [=](const caf::down_msg& x) { all->end_monitor(index.at(x.source)); });
  return {[](caf::unit_t) {}};
}

/// Has desks spawned on another node, monitored by watchers, and asks each.
struct inquiry {
  uint32_t rank = 0;
  size_t desks = 0;
  size_t watchers = 0;
  size_t questions = 0;
};

void begin_inquiry(caf::event_based_actor* self, const tally_ptr& all,
                   const inquiry& x) {
  all->requests = x.questions;
  all->has_ended.resize(x.questions);
  all->is_down.resize(x.desks * x.watchers);
  for (auto i = size_t{0}; i < x.watchers; ++i)
    all->watchers.push_back(self->spawn(watching, all, i));
  for (auto i = size_t{0}; i < x.questions; ++i)
    ask(self, all, all->desks[i % x.desks], i, {});
}

caf::behavior inquiring(caf::event_based_actor* self,
                        const gateway_actor& gateway, const tally_ptr& all,
                        inquiry x) {
  for (auto i = size_t{0}; i < x.desks; ++i)
    self
      ->request(gateway, 60s, remoting::spawn<lab::desk_actor>(x.rank, "desk"))
      .then(
        [=](const caf::strong_actor_ptr& y) {
          all->desks.push_back(caf::actor_cast<lab::desk_actor>(y));
          if (all->desks.size() == x.desks)
            begin_inquiry(self, all, x);
        },
        [=](const caf::error& err) {
          say("ask: " + self->system().render(err));
        });
  return {[](caf::unit_t) {}};
}

/// Requests to one desk, as fast as they go.
struct overfill {
  lab::desk_actor to;
  size_t count = 0;
  size_t bytes = 0;
};

caf::behavior overfilling(caf::event_based_actor* self, const tally_ptr& all,
                          const overfill& x) {
  all->requests = x.count;
  all->has_ended.resize(2 * x.count);
  self->send(self, uint64_t{0});
  return {[=](uint64_t begin) {
    const auto end = std::min<uint64_t>(begin + 16, x.count);
    // Even numbers are answered.
    for (auto i = begin; i < end; ++i)
      ask(self, all, x.to, 2 * i, std::string(x.bytes, 'x'));
    if (end < x.count)
      self->send(self, end);
    else
      say("all asked");
  }};
}

// -- a node --------------------------------------------------------------------

/// A node, and the thread that does what the script says. All else happens on
/// the thread of the loop.
class node {
public:
  node(const std::string& folder, uint32_t rank) {
    std::ifstream file{folder + "/" + std::to_string(rank)};
    const auto bytes = std::string{std::istreambuf_iterator<char>{file}, {}};
    auto options = mesh_member_options{};
    options.context =
      value_of(secure_context::make(value_of(decode_credentials(bytes))));
    if (rank == 0) {
      options.names = {"n1", "n2", "n3", "n4"};
      options.port = root_port;
    } else {
      options.root_name = "n1";
      options.root_addresses = {{"net1", "10.201.0.1", root_port},
                                {"net2", "10.202.0.1", root_port}};
    }
    options.log = [](severity level, const std::string& line) {
      if (level >= severity::warning)
        say("log: " + line);
    };
    member_ = value_of(mesh_member::start(sys_, std::move(options)));
    auto settings = remoting_options{};
    settings.is_alone = true;
    settings.queue_bytes = queue_bytes;
    remote_ = remoting::start(sys_, *member_, std::move(settings));
    remote_->accept<lab::sink_actor, lab::desk_actor, lab::counter_actor,
                    lab::series>();
    if (!lab::has_old_forms)
      remote_->accept<lab::novelty>();
    offer();
  }

  /// Ends with the process.
  void run(const std::string& pipe) {
    std::thread{[this, pipe] {
      // Open for writing, too: it does not end with its first writer.
      auto* file = ::fdopen(::open(pipe.c_str(), O_RDWR), "r");
      if (file == nullptr)
        fail("cannot open " + pipe);
      say("ready");
      char line[256];
      while (std::fgets(line, sizeof(line), file) != nullptr)
        obey(std::istringstream{line});
    }}.detach();
    sys_.run();
  }

private:
  static constexpr uint16_t root_port = 7100;
  static constexpr size_t queue_bytes = size_t{16} << 20;

  /// What others find here, or have spawned.
  void offer() {
    remote_->register_kind<lab::sink_actor>(
      "sink", [this](const caf::message& x) {
        if (!x.match_elements<lab::series, lab::counter_actor>())
          return lab::sink_actor{};
        return sys_.actors().spawn(sink, x.get_as<lab::series>(0),
                                   x.get_as<lab::counter_actor>(1));
      });
    remote_->register_kind<lab::desk_actor>(
      "desk", [this](const caf::message& x) {
        return x.empty() ? sys_.actors().spawn(desk) : lab::desk_actor{};
      });
    remote_->publish(sys_.actors().spawn(desk), "desk");
    auto second = actor_audience{};
    second.ranks = {1};
    remote_->publish(sys_.actors().spawn(desk), "desk for n2", second);
    auto ours = actor_audience{};
    ours.same_user = true;
    remote_->publish(sys_.actors().spawn(desk), "desk for the user", ours);
  }

  void obey(std::istringstream in) {
    std::string what;
    in >> what;
    if (what == "find")
      find(in);
    else if (what == "flood" || what == "pace")
      start_flood(in, what == "flood");
    else if (what == "beside")
      start_beside(in);
    else if (what == "ask")
      start_inquiry(in);
    else if (what == "asked")
      sys_.loop().post([x = asked_] { say("asked: " + x->to_text()); });
    else if (what == "dead")
      dead(in);
    else if (what == "again")
      again();
    else if (what == "link")
      link(in);
    else if (what == "send")
      send(in);
    else if (what == "overfill")
      start_overfill(in);
    else if (what == "gauges")
      gauges();
    else
      say("what is " + what + "?");
  }

  std::string text_of(const caf::error& err) {
    return sys_.actors().render(err);
  }

  /// Asks again while the node is no member yet.
  template <class Handle>
  caf::expected<Handle> find_soon(std::optional<uint32_t> rank,
                                  const std::string& name,
                                  std::chrono::seconds wait) {
    const auto until = lab_clock::now() + wait;
    for (;;) {
      auto result = remote_->remote_lookup<Handle>(rank, name);
      if (result || result.error() != caf::sec::cannot_connect_to_node
          || lab_clock::now() > until)
        return result;
      std::this_thread::sleep_for(20ms);
    }
  }

  template <class Handle>
  void find_as(std::optional<uint32_t> rank, const std::string& name,
               std::chrono::seconds wait) {
    const auto found = find_soon<Handle>(rank, name, wait);
    auto text = std::string{};
    if (!found) {
      text = text_of(found.error());
    } else {
      const auto where = rank_of(found->node());
      text = where ? "of node " + std::to_string(*where) : "of no node";
    }
    say("find " + name + ": " + text);
  }

  /// find RANK|any SECONDS desk|sink|actor NAME...
  void find(std::istringstream& in) {
    std::string where, kind, name;
    int seconds = 0;
    in >> where >> seconds >> kind >> std::ws;
    std::getline(in, name);
    auto rank = std::optional<uint32_t>{};
    if (where != "any")
      rank = static_cast<uint32_t>(std::stoul(where));
    const auto wait = std::chrono::seconds{seconds};
    if (kind == "desk")
      find_as<lab::desk_actor>(rank, name, wait);
    else if (kind == "sink")
      find_as<lab::sink_actor>(rank, name, wait);
    else
      find_as<caf::actor>(rank, name, wait);
  }

  /// flood|pace RANK COUNT BYTES
  void start_flood(std::istringstream& in, bool has_window) {
    auto x = flood{};
    size_t size = 0;
    in >> x.rank >> x.all.count >> size;
    x.all.taken_every = 1024;
    x.bytes.assign(size, 'x');
    x.window = has_window ? 16384 : 0;
    sys_.actors().spawn(flooding, remote_->gateway(), std::move(x));
  }

  /// beside RANK COUNT BYTES QUESTIONS: actors of a second actor system of this
  /// process talk to that node: a scheduled and a detached one send series, a
  /// blocking one asks.
  void start_beside(std::istringstream& in) {
    auto x = flood{};
    size_t size = 0;
    uint64_t questions = 0;
    in >> x.rank >> x.all.count >> size >> questions;
    x.all.taken_every = 1024;
    x.bytes.assign(size, 'x');
    x.window = 4096;
    const auto desk = find_soon<lab::desk_actor>(x.rank, "desk", 60s);
    if (!desk)
      return say("beside: " + text_of(desk.error()));
    if (!theirs_) {
      their_config_.set("scheduler.max-threads", 3);
      share_handles(their_config_);
      theirs_ = std::make_unique<caf::actor_system>(their_config_);
    }
    x.label = "scheduled ";
    theirs_->spawn(flooding, remote_->gateway(), x);
    x.label = "detached ";
    theirs_->spawn<caf::detached>(flooding, remote_->gateway(), x);
    theirs_->spawn(asking, *desk, questions);
  }

  /// ask RANK DESKS WATCHERS QUESTIONS
  void start_inquiry(std::istringstream& in) {
    auto x = inquiry{};
    in >> x.rank >> x.desks >> x.watchers >> x.questions;
    asked_ = std::make_shared<tally>();
    sys_.actors().spawn(inquiring, remote_->gateway(), asked_, x);
  }

  /// Waits for the end of an actor.
  std::string wait_for_end(caf::scoped_actor& self) {
    auto result = std::string{"no down_msg"};
    self->receive(
      [&](const caf::down_msg& x) { result = "down " + text_of(x.reason); },
      caf::after(60s) >> [] {});
    return result;
  }

  template <class T>
  std::string request(caf::scoped_actor& self, const caf::actor& to, T what) {
    auto result = std::string{};
    self->request(to, 60s, std::move(what))
      .receive([&](const lab::reply&) { result = "an answer"; },
               [&](const caf::error& err) { result = text_of(err); });
    return result;
  }

  std::string use(caf::scoped_actor& self, const caf::actor& ended) {
    auto result = request(self, ended, lab::question{2, {}});
    self->monitor(ended);
    return result + ", " + wait_for_end(self);
  }

  /// dead RANK: an actor there ends, and is used afterwards.
  void dead(std::istringstream& in) {
    uint32_t rank = 0;
    in >> rank;
    const auto x = remote_->remote_spawn<lab::desk_actor>(rank, "desk", 60s);
    if (!x)
      return say("dead: " + text_of(x.error()));
    caf::scoped_actor self{sys_.actors()};
    self->monitor(*x);
    self->send_exit(*x, caf::exit_reason::user_shutdown);
    const auto end = wait_for_end(self);
    say("dead: " + end + "; then "
        + use(self, caf::actor_cast<caf::actor>(*x)));
  }

  /// link RANK theirs|ours|none: actors here and there are linked, and one of them
  /// ends.
  void link(std::istringstream& in) {
    uint32_t rank = 0;
    std::string who;
    in >> rank >> who;
    const auto theirs =
      remote_->remote_spawn<lab::desk_actor>(rank, "desk", 60s);
    if (!theirs)
      return say("link: " + text_of(theirs.error()));
    const auto ours = sys_.actors().spawn(linked, *theirs);
    caf::scoped_actor self{sys_.actors()};
    self->request(ours, 5s, int32_t{1})
      .receive([](int32_t) { say("link is there"); },
               [&](const caf::error& err) { say("link: " + text_of(err)); });
    if (who == "theirs")
      self->send_exit(*theirs, caf::exit_reason::user_shutdown);
    if (who != "ours")
      return;
    self->monitor(*theirs);
    self->send_exit(ours, caf::exit_reason::user_shutdown);
    say("link: theirs has " + wait_for_end(self));
  }

  /// The first of those that were asked is used once more.
  void again() {
    caf::scoped_actor self{sys_.actors()};
    say("again: "
        + use(self, caf::actor_cast<caf::actor>(asked_->desks.front())));
  }

  /// send RANK reading|novelty|question: a request to the desk there.
  void send(std::istringstream& in) {
    uint32_t rank = 0;
    std::string what;
    in >> rank >> what;
    const auto found = find_soon<lab::desk_actor>(rank, "desk", 5s);
    if (!found)
      return say("send " + what + ": " + text_of(found.error()));
    const auto to = caf::actor_cast<caf::actor>(*found);
    caf::scoped_actor self{sys_.actors()};
    say("send " + what + ": "
        + (what == "reading"   ? request(self, to, lab::reading{2, "K"})
           : what == "novelty" ? request(self, to, lab::novelty{2})
                               : request(self, to, lab::question{2, {}})));
  }

  /// overfill RANK COUNT BYTES
  void start_overfill(std::istringstream& in) {
    uint32_t rank = 0;
    auto x = overfill{};
    in >> rank >> x.count >> x.bytes;
    const auto to = find_soon<lab::desk_actor>(rank, "desk", 5s);
    if (!to)
      return say("overfill: " + text_of(to.error()));
    x.to = *to;
    asked_ = std::make_shared<tally>();
    sys_.actors().spawn(overfilling, asked_, std::move(x));
  }

  void gauges() {
    caf::scoped_actor self{sys_.actors()};
    self->request(remote_->gateway(), 5s, get_gauges{})
      .receive(
        [](const gauge_list& all) {
          auto text = std::string{"gauges:"};
          for (const auto& x : all.gauges)
            text += " " + x.name + "=" + std::to_string(x.value);
          say(text);
        },
        [&](const caf::error& err) { say("gauges: " + text_of(err)); });
  }

  loop_system sys_;
  std::unique_ptr<mesh_member> member_;
  std::unique_ptr<remoting> remote_;

  /// A second actor system; of the thread that obeys.
  caf::actor_system_config their_config_;
  std::unique_ptr<caf::actor_system> theirs_;

  /// The latest inquiry.
  tally_ptr asked_ = std::make_shared<tally>();
};

/// Credentials, by an authority that ends with this process.
void write_keys(const std::string& folder, char** ranks) {
  const auto issuer = value_of(authority::make("lab"));
  std::filesystem::create_directory(folder);
  for (; *ranks != nullptr; ++ranks) {
    auto in = std::istringstream{*ranks};
    auto rank = uint32_t{0}, number = uint32_t{0};
    in >> rank;
    auto user = std::optional<uint32_t>{};
    if (in.get() == ':' && in >> number)
      user = number;
    auto bytes = value_of(encode_credentials(
      value_of(issuer.issue(rank, "n" + std::to_string(rank + 1), {}, user))));
    std::ofstream{folder + "/" + std::to_string(rank)}.write(
      reinterpret_cast<const char*>(bytes.data()),
      static_cast<std::streamsize>(bytes.size()));
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string{argv[1]} == "keys") {
    write_keys(argv[2], argv + 3);
    return 0;
  }
  if (argc < 4)
    fail("FOLDER RANK FIFO [old]");
  lab::has_old_forms = argc == 5;
  const auto mine =
    std::make_unique<node>(argv[1], static_cast<uint32_t>(std::stoul(argv[2])));
  mine->run(argv[3]);
}
