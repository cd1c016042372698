#include "tests/adapters/local/world.hpp"

// Other folders have a `world` of their own in the same binary.
namespace troupe::fixtures {
inline namespace sockets {

namespace {

caf::behavior scripted_session(caf::event_based_actor* self, script* play) {
  const auto hold_or = [=](auto answer) {
    auto promise = self->make_response_promise();
    ++play->requests;
    if (play->holds_requests)
      play->held_requests.push_back(promise);
    else
      promise.deliver(answer);
    return promise;
  };
  return {
    [=](const job_info_request&) -> caf::result<job_info_reply> {
      ++play->requests;
      auto info = std::make_shared<job_info>();
      info->nspace = "job";
      info->entries.push_back({"pmix.job.size", value::uint32(1)});
      return job_info_reply{std::move(info)};
    },
    [=](const fence_request&) { return hold_or(ack{}); },
    [=](const get_request&) {
      return hold_or(make_error(status::not_found, "no such key"));
    },
    [=](const query_request&) {
      ++play->requests;
      info_result result;
      result.infos.push_back(
        {"answer", 0, value::string(std::string(play->answer_size, 'x'))});
      return result;
    },
    [=](const commit_request&) {
      ++play->requests;
      return ack{};
    },
    [=](const finalize_request&) {
      ++play->requests;
      return ack{};
    },
    [=](const deregister_events_request& x) {
      play->deregistered.push_back(x);
    },
    [=](const io_push_request& x) {
      play->pushes.push_back(x);
      return hold_or(ack{});
    },
    [=](const heartbeat&) { ++play->heartbeats; },
    [=](events_taken x) { play->taken = x.count; },
    [=](const connection_lost& x) {
      play->lost.push_back(x);
      self->quit();
    },
  };
}

caf::behavior scripted_server(caf::event_based_actor* self, script* play) {
  return {
    [=](const connect_request& x, const connection_actor& connection)
      -> caf::result<connect_accepted, client_actor> {
      play->connects.push_back(x);
      if (play->refusal != status::success)
        return make_error(play->refusal, "the script says so");
      const auto session = self->spawn(scripted_session, play);
      play->sessions.push_back(session);
      play->connections.push_back(connection);
      auto promise = self->make_response_promise();
      if (play->holds_connects)
        play->held_connects.push_back(promise);
      else
        promise.deliver(connect_accepted{{"job", 0}, {"server", 0}, 7},
                        caf::actor_cast<client_actor>(session));
      return caf::result<connect_accepted, client_actor>{
        caf::delegated<connect_accepted, client_actor>{}};
    },
  };
}

} // namespace

caf::actor spawn_scripted_server(caf::actor_system& sys, script* play) {
  return sys.spawn(scripted_server, play);
}

world::world(listener_options options) {
  options.server = {"server", 0};
  options.log = [this](severity, const std::string& line) {
    play.log.push_back(line);
  };
  thread_ = std::thread{[this] { sys.run(); }};
  on_loop([&] {
    server = spawn_scripted_server(sys.actors(), &play);
    auto x =
      listener::start(sys, caf::actor_cast<server_actor>(server), options);
    if (!x)
      CAF_FAIL("cannot listen: " << reason_of(x.error()));
    door = std::move(*x);
    return 0;
  });
}

world::~world() {
  on_loop([&] {
    door.reset();
    play.clear();
    caf::anon_send_exit(server, caf::exit_reason::user_shutdown);
    server = nullptr;
    return 0;
  });
  sys.stop();
  thread_.join();
}

std::unique_ptr<peer> world::served() {
  auto result = std::make_unique<peer>(port());
  result->send(bytes_of(greeting()));
  if (result->receive(8).size() != 8)
    CAF_FAIL("was not served");
  return result;
}

} // namespace sockets
} // namespace troupe::fixtures
