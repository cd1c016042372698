#include "tools/screen.hpp"

#include "tools/screen_window.hpp"
#include "tools/window_command.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace troupe {

struct screen::state {
  state(loop_system& sys, settings x) : system(sys), options(std::move(x)) {
    // nop
  }

  void open(uint32_t rank);
  void take(screen_window::waiting x);
  void show_elsewhere(screen_window::waiting x) const;
  void on_failed(uint32_t rank, const std::string& why,
                 std::deque<screen_window::waiting> left) const;

  loop_system& system;
  settings options;
  std::string directory;
  std::string nspace;
  input_target_actor input;
  output_sink_actor sink;

  /// By rank, once the job has a name.
  std::vector<std::unique_ptr<screen_window>> windows;
  std::vector<caf::actor> sources;

  /// What came before.
  std::deque<screen_window::waiting> early;
};

namespace {

struct sink_state {
  static inline const char* name = "screen";
};

} // namespace

/// Nobody of ours is in an actor here.
void screen::state::show_elsewhere(screen_window::waiting x) const {
  system.actors().spawn(
    [to = options.fallback, x = std::move(x)](caf::event_based_actor* self) {
      auto reply = x.reply;
      self->request(to, caf::infinite, x.what)
        .then(
          [reply](ack) mutable { reply.deliver(ack{}); },
          [reply](caf::error& why) mutable { reply.deliver(std::move(why)); });
    });
}

void screen::state::take(screen_window::waiting x) {
  if (windows.empty()) {
    early.push_back(std::move(x));
    return;
  }
  const auto& source = x.what.stream.source;
  if (source.nspace != nspace || source.rank >= windows.size()
      || windows[source.rank]->has_failed())
    show_elsewhere(std::move(x));
  else
    windows[source.rank]->take(std::move(x));
}

void screen::state::on_failed(uint32_t rank, const std::string& why,
                              std::deque<screen_window::waiting> left) const {
  options.warn("no window for rank " + std::to_string(rank) + ": " + why
               + "; its output is shown here");
  for (auto& x : left)
    show_elsewhere(std::move(x));
}

void screen::state::open(uint32_t rank) {
  auto handlers = screen_window::callbacks{};
  handlers.on_connected = [this, rank](int fd) {
    auto from = stdin_source_settings{};
    from.fd = fd;
    from.nspace = nspace;
    from.ranks = {rank};
    sources.push_back(system.actors().spawn(stdin_source, &system.loop(),
                                            &system.pool(), input, from));
  };
  handlers.on_failed = [this, rank](const std::string& why, auto left) {
    on_failed(rank, why, std::move(left));
  };
  handlers.on_closed = [this, rank] {
    options.warn("the window of rank " + std::to_string(rank)
                 + " was closed: what the process writes is lost");
  };
  windows.push_back(
    std::make_unique<screen_window>(system.loop(), std::move(handlers)));
  windows.back()->open(directory + "/" + std::to_string(rank),
                       window_command(options.command, rank, nspace),
                       options.is_raw);
}

screen::screen(std::shared_ptr<state> x) : state_(std::move(x)) {
  // nop
}

caf::expected<std::unique_ptr<screen>> screen::make(loop_system& sys,
                                                    settings x) {
  if (x.size > most)
    return make_error(status::bad_param,
                      "--screen opens one window per process, "
                        + std::to_string(x.size) + " are too many; the most "
                        + "are " + std::to_string(most));
  auto result = std::unique_ptr<screen>{
    new screen{std::make_shared<state>(sys, std::move(x))}};
  auto& st = *result->state_;
  const auto* base = std::getenv("TMPDIR");
  st.directory = std::string{base != nullptr && *base == '/' ? base : "/tmp"}
                 + "/troupe.window.XXXXXX";
  // Each window has a socket there, named by its rank.
  constexpr auto room = sizeof(sockaddr_un::sun_path) - 1;
  if (st.directory.size() + 1 + std::to_string(most).size() > room)
    return make_error(status::error,
                      "TMPDIR is " + std::string{base} + ": its "
                        + std::to_string(std::strlen(base))
                        + " characters leave no room for the name of a socket "
                          "there, of which --screen needs one per window; set "
                          "TMPDIR to a shorter one");
  if (::mkdtemp(st.directory.data()) == nullptr)
    return make_error(status::error, "cannot make a directory "
                                       + std::exchange(st.directory, {}) + ": "
                                       + std::strerror(errno)
                                       + "; set TMPDIR to one of yours");
  st.sink =
    sys.actors().spawn([weak = std::weak_ptr<state>{result->state_}](
                         output_sink_actor::stateful_pointer<sink_state> self)
                         -> output_sink_actor::behavior_type {
      return {[self, weak](io_fragment& x) -> caf::result<ack> {
        const auto to = weak.lock();
        if (!to)
          return ack{};
        auto reply = self->make_response_promise<ack>();
        to->take({std::move(x), reply});
        return reply;
      }};
    });
  return result;
}

screen::~screen() {
  auto& st = *state_;
  for (const auto& x : st.sources)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(st.sink, caf::exit_reason::user_shutdown);
  st.windows.clear();
  if (!st.directory.empty())
    ::rmdir(st.directory.c_str());
}

const output_sink_actor& screen::sink() const {
  return state_->sink;
}

void screen::open(const std::string& nspace, const input_target_actor& input) {
  auto& st = *state_;
  st.nspace = nspace;
  st.input = input;
  for (uint32_t rank = 0; rank < st.options.size; ++rank)
    st.open(rank);
  for (auto& x : std::exchange(st.early, {}))
    st.take(std::move(x));
}

} // namespace troupe
