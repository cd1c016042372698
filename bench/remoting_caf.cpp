// CAF's own remoting, for bench/remoting: caf::io in plain text, or
// caf::openssl.
//
//   remoting_caf POLICY THREADS WORKERS [CERTIFICATE KEY AUTHORITY]
//
// POLICY (stealing, sharing), THREADS and WORKERS are those of CAF's scheduler
// and of its middleman in either process; with files of a certificate both ends
// prove who they are.

#include <caf/type_id.hpp>

#define REMOTING_LOAD_FIRST_ID caf::first_custom_type_id
#include "bench/remoting_load.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <future>

namespace {

struct settings : caf::actor_system_config {
  settings(int argc, char** argv) {
    add_message_types<caf::id_block::remoting_load>();
    load<caf::io::middleman>();
    set("scheduler.policy", caf::atom_from_string(argv[1]));
    set("scheduler.max-threads", std::strtoull(argv[2], nullptr, 10));
    set("middleman.workers", std::strtoull(argv[3], nullptr, 10));
    if (argc < 7)
      return;
    load<caf::openssl::manager>();
    openssl_certificate = argv[4];
    openssl_key = argv[5];
    openssl_cafile = argv[6];
  }
};

template <class T>
T value_of(caf::actor_system& sys, caf::expected<T> x) {
  if (!x)
    load::fail(sys.render(x.error()));
  return std::move(*x);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 7)
    load::fail("POLICY THREADS WORKERS [CERTIFICATE KEY AUTHORITY]");
  const auto is_secure = argc == 7;
  port_pipe port;
  load::run_both(
    [&] {
      settings cfg{argc, argv};
      caf::actor_system sys{cfg};
      auto worker = sys.spawn(load::worker);
      port.put(value_of(
        sys, is_secure ? caf::openssl::publish(worker, 0, "127.0.0.1")
                       : sys.middleman().publish(worker, 0, "127.0.0.1")));
      sys.await_all_actors_done();
    },
    [&] {
      settings cfg{argc, argv};
      caf::actor_system sys{cfg};
      auto worker = value_of(
        sys, is_secure ? caf::openssl::remote_actor<load::worker_actor>(
               sys, "127.0.0.1", port.get())
                       : sys.middleman().remote_actor<load::worker_actor>(
                         "127.0.0.1", port.get()));
      std::promise<load::figures> result;
      auto driver =
        sys.spawn(load::driver, worker,
                  [&](const load::figures& x) { result.set_value(x); });
      caf::anon_send(driver, load::begin{});
      load::print(result.get_future().get());
      caf::anon_send_exit(driver, caf::exit_reason::user_shutdown);
    });
}
