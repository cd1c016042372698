#include "c_api/client_link.hpp"

#include "actors/data/job_memory.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/link/link_replies.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/node_store/descriptor_inbox.hpp"
#include "adapters/node_store/shared_job_data.hpp"
#include "base/make_info.hpp"
#include "c_api/input_pusher.hpp"
#include "c_api/library_core.hpp"
#include "c_api/node_fence.hpp"
#include "c_api/node_groups.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/attributes.hpp"
#include "messages/data.hpp"
#include "messages/query.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace troupe::c_api {

namespace {

/// How long a server may take to say goodbye. Source: OpenPMIx wire protocol,
/// life of a connection.
constexpr auto goodbye = std::chrono::milliseconds{2000};

/// An event of the library's own: for the handlers of this process only.
/// Source: RFC0002, "Client-Based Notifications".
event own_event(status code, const proc_id& server) {
  auto what = event{};
  what.code = code;
  what.source = server;
  what.range = data_range::proc_local;
  return what;
}

/// From now on no calls of ours meet others in memory.
void stop_meeting(const library_core& core) {
  core.fences->stop();
  core.shared_groups->stop();
}

/// What handlers of the application get when the server is gone; default
/// handlers too: Open MPI ends itself then. A handler hears of it by today's
/// name, PMIX_ERR_LOST_CONNECTION, unless it only knows the old one.
/// Source: RFC0002, PMIX_ERR_LOST_SERVER_CONNECTION; requirements, reading A14.
void tell_of_loss(const proc_id& server) {
  if (const auto core = library::instance().core()) {
    // It may have told us to push no more.
    if (core->inputs)
      core->inputs->go_on();
    stop_meeting(*core);
  }
  library::instance().push(
    batch_of(own_event(status::lost_connection_to_server, server)));
}

/// A message from the server, or to it, was in vain. Default handlers are not
/// told: Open MPI would end itself.
/// Source: RFC0002, PMIX_ERR_FAILED_COMM; requirements, reading A14.
void tell_of_garbled(const proc_id& server, const caf::error& why) {
  auto what = own_event(status::comm_failure, server);
  what.infos = {
    make_info(attr::event_non_default, value::boolean(true)),
    make_info(attr::event_text_message, value::string(reason_of(why)))};
  library::instance().push(batch_of(std::move(what)));
}

std::string own_hostname() {
  const auto* name = std::getenv("PMIX_HOSTNAME");
  return name != nullptr && *name != '\0' ? std::string{name} : node_name();
}

link::callbacks make_callbacks(const proc_id& server) {
  auto result = link::callbacks{};
  result.on_events = [](event_batch x) {
    library::instance().push(std::move(x));
  };
  result.on_output = [](io_delivery x, output_receipt receipt) {
    library::instance().push(std::move(x), std::move(receipt));
  };
  result.on_flow_control = [](const wire::flow_control& x) {
    if (const auto core = library::instance().core(); core && core->inputs)
      core->inputs->control(x);
  };
  result.on_garbled = [server](const caf::error& why) {
    tell_of_garbled(server, why);
  };
  result.on_lost = [server](const caf::error&) { tell_of_loss(server); };
  return result;
}

/// Tells a server that we do not see what it has told us of.
/// @param inbox Where it may hand that over; empty: it is for its log only.
/// @returns whether it has done so.
bool tell_unseen(link& to, int code, const std::string& inbox) {
  auto what = log_request{};
  what.data = {make_info(unseen_memory_key, value::integer(code))};
  if (!inbox.empty())
    what.data.push_back(make_info(memory_inbox_key, value::string(inbox)));
  return static_cast<bool>(to.call(wire::request{std::move(what)}));
}

/// Whose descriptors are tried at most.
constexpr int most_senders = 8;

/// Maps what we share with a server, now: the first look-up need not wait for it. If
/// we cannot open it, the server hands it over.
void find_shared(shared_posts& shared, link& with) {
  shared.access();
  if (shared.failure() == 0)
    return;
  const auto inbox = descriptor_inbox{};
  const auto is_told = tell_unseen(with, shared.failure(), inbox.name());
  if (!is_told || inbox.name().empty())
    return;
  // Any process of this user may have sent something as well.
  for (auto i = 0; i < most_senders; ++i) {
    auto sent = inbox.take();
    if (sent.empty())
      break;
    if (shared.take(std::move(sent)))
      return;
  }
  tell_unseen(with, shared.failure(), {});
}

/// Whether an answer says that the data of our job are in memory. An entry of that
/// name among others is the host's.
bool is_in_memory(const job_info& x) {
  return x.entries.size() == 1 && x.entries.front().key == job_in_memory_key;
}

/// Asks for the data of our job.
caf::expected<job_reply> ask_for_job(link& to) {
  const auto job = std::make_shared<job_reply>();
  const auto read = [job, rules = to.rules()](std::string_view payload) {
    auto x = read_job_reply(payload, rules);
    if (!x)
      return troupe::link::outcome{std::move(x.error())};
    *job = std::move(*x);
    return troupe::link::outcome{wire::reply_body{ack{}}};
  };
  auto reply = to.call(wire::request{job_info_request{}}, {}, read);
  if (!reply)
    return std::move(reply.error());
  return std::move(*job);
}

/// The data of our job, from the server or from the memory that it names.
caf::expected<job_reply> find_job(shared_posts& shared, link& with) {
  auto told = ask_for_job(with);
  if (!told || !is_in_memory(told->info))
    return told;
  shared.set(with.shared_memory(), with.self());
  find_shared(shared, with);
  if (const auto access = shared.access())
    if (auto found = read_shared_job(access->job(), access)) {
      told->info.entries = std::move(found->entries);
      told->ranks = std::move(found->ranks);
      return told;
    }
  // What we cannot open it has been told of.
  if (shared.failure() == 0) {
    shared.give_up();
    tell_unseen(with, EBADMSG, {});
  }
  // It knows that we do not see it.
  told = ask_for_job(with);
  if (told && is_in_memory(told->info))
    return make_error(status::error);
  return told;
}

/// Fetches the data of our job. Singletons of our time have none to fetch.
/// Source: OpenPMIx wire protocol, singleton clients.
caf::error fetch_job(library_core& core, link& to, peer_role role) {
  if (role == peer_role::singleton)
    return caf::none;
  auto job = find_job(*core.shared, to);
  if (!job)
    return make_error(status::unreach, reason_of(job.error()));
  // A tool that chose its own name may have got another one from the host.
  if (!is_tool(role) && job->info.nspace != to.self().nspace)
    return make_error(status::error, "the server sends data of another job");
  core.store->add_job(std::move(job->info), std::move(job->ranks));
  return caf::none;
}

/// How long the progress thread looks for what threads of the program ask next:
/// about twice what it takes to be woken.
constexpr auto linger = std::chrono::microseconds{25};

/// Has the progress thread look for the next call before it sleeps, if each
/// process of our job on this node has two processors (docs/decisions/0006).
void set_linger(const library& lib, library_core& core) {
  if (core.is_external)
    return;
  auto size = uint32_t{0};
  core.store->get(
    {{lib.proc().nspace, rank_wildcard}, attr::local_size}, {},
    [&](const value& x) { size = x.number<uint32_t>().value_or(0); });
  const auto has_room = size > 0 && size <= allowed_processors().size() / 2;
  lib.post([&loop = core.loop.loop(), has_room] {
    loop.set_linger(has_room ? linger : std::chrono::microseconds{0});
  });
}

} // namespace

pmix_status_t attach(library& lib, const link_settings& settings,
                     bool make_primary) {
  auto peer = connect_to_server(settings);
  if (!peer)
    return to_c(peer.error());
  const auto server = peer->server;
  auto to = std::make_shared<link>(lib.loop().loop(), std::move(*peer),
                                   make_callbacks(server));
  remember_for_fork(to.get());
  lib.run_in_loop([&] { to->start(); });
  const auto core = lib.core();
  if (const auto err = fetch_job(*core, *to, settings.role)) {
    take_leave(to);
    lib.run_in_loop([] {}); // Its watches end there.
    return to_c(err);
  }
  {
    const auto guard = std::lock_guard{core->mutex};
    core->links.push_back(to);
  }
  if (make_primary)
    choose(lib, to);
  return PMIX_SUCCESS;
}

void choose(library& lib, const std::shared_ptr<link>& to) {
  if (to)
    lib.set_self(to->self(), own_hostname(), to->uri());
  if (const auto core = lib.core()) {
    stop_meeting(*core);
    const auto is_new =
      core->shared->set(to ? to->shared_memory() : std::string{}, lib.proc());
    if (to) {
      if (is_new)
        find_shared(*core->shared, *to);
      core->fences->start();
      core->shared_groups->start();
    }
    // Then nobody will tell us of its loss any more.
    if (to && !to->is_open())
      stop_meeting(*core);
    set_linger(lib, *core);
  }
  lib.set_link(to);
}

void take_leave(const std::shared_ptr<link>& to) {
  if (to->is_open())
    to->call(wire::request{finalize_request{}}, goodbye);
  to->close();
  forget_for_fork(to.get());
}

std::vector<std::shared_ptr<link>> links(const library& lib) {
  const auto core = lib.core();
  if (!core)
    return {};
  const auto guard = std::lock_guard{core->mutex};
  auto result = core->links;
  // The one that is asked first.
  std::stable_partition(result.begin(), result.end(),
                        [&](const auto& x) { return x == core->to; });
  return result;
}

void detach(library& lib, const std::shared_ptr<link>& from) {
  take_leave(from);
  lib.run_in_loop([] {}); // Its watches end there.
  const auto core = lib.core();
  auto next = std::shared_ptr<link>{};
  {
    const auto guard = std::lock_guard{core->mutex};
    auto& all = core->links;
    all.erase(std::remove(all.begin(), all.end(), from), all.end());
    if (core->to != from)
      return;
    if (!all.empty())
      next = all.front();
  }
  choose(lib, next);
}

void detach_all(library& lib) {
  for (const auto& x : links(lib))
    detach(lib, x);
}

} // namespace troupe::c_api
