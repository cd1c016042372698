#include "adapters/metrics/metrics_service.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/metrics/metrics_writer.hpp"
#include "adapters/metrics/node_metrics.hpp"
#include "adapters/process/descriptors.hpp"
#include "messages/mesh.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <sys/resource.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// How long the actors have to say how they are: more than each of them has of
/// the MESH HOST, and less than Prometheus waits as a rule.
constexpr auto patience = std::chrono::seconds{8};

constexpr auto open_metrics_type =
  "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr auto prometheus_type = "text/plain; version=0.0.4; charset=utf-8";

/// Whether who asks takes OpenMetrics 1.0. Who does not name it gets what all
/// understand. Source: OpenMetrics 1.0, "Protocol Negotiation".
bool takes_open_metrics(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos;
}

std::chrono::nanoseconds to_time(const timeval& x) {
  return std::chrono::seconds{x.tv_sec} + std::chrono::microseconds{x.tv_usec};
}

std::chrono::nanoseconds cpu_time() {
  auto used = rusage{};
  ::getrusage(RUSAGE_SELF, &used);
  return to_time(used.ru_utime) + to_time(used.ru_stime);
}

double seconds_since_1970() {
  return std::chrono::duration<double>{
    std::chrono::system_clock::now().time_since_epoch()}
    .count();
}

} // namespace

caf::expected<std::unique_ptr<metrics_service>>
metrics_service::start(loop_system& loop, metrics_options options) {
  auto write = load_metrics_writer(options.program);
  if (!write)
    return std::move(write.error());
  auto doors = listen_at(options.where);
  if (!doors)
    return make_error(
      status_of(doors.error()),
      "metrics cannot be told: " + reason_of(doors.error())
        + "; choose another place by --metrics or metrics.port");
  return std::unique_ptr<metrics_service>{new metrics_service{
    loop, std::move(options), std::move(*doors), std::move(*write)}};
}

metrics_service::metrics_service(loop_system& loop, metrics_options options,
                                 std::vector<unique_fd> doors,
                                 std::function<metrics_writer_function> write)
  : loop_(loop), options_(std::move(options)), write_(std::move(write)),
    start_time_(seconds_since_1970()), probe_(loop.loop()),
    rounds_(loop.loop(), scrape_rounds::bounds{}, [this] { ask(); }),
    server_(loop.loop(), std::move(doors), scrape_server::bounds{},
            [this](const scrape_request& request,
                   scrape_server::responder reply) { answer(request, reply); }),
    alive_(std::make_shared<metrics_service*>(this)) {
  // nop
}

metrics_service::~metrics_service() {
  *alive_ = nullptr;
}

void metrics_service::answer(const scrape_request& request,
                             const scrape_server::responder& reply) {
  if (request.path != "/metrics") {
    reply(request.path == "/" ? scrape_text(200, "the metrics are at /metrics")
                              : scrape_text(404, "there is only /metrics"));
    return;
  }
  rounds_.add(takes_open_metrics(request.accept), reply);
}

/// Asks the actors for those who wait.
void metrics_service::ask() {
  loop_.actors().spawn(
    [alive = alive_, host = options_.host](caf::event_based_actor* self) {
      self->request(host, patience, get_mesh_status{})
        .then(
          [alive](const mesh_status& x) {
            if (*alive != nullptr)
              (*alive)->rounds_.finish([&](bool is_open_metrics) {
                return (*alive)->report(x, is_open_metrics);
              });
          },
          [alive](const caf::error& why) {
            if (*alive != nullptr)
              (*alive)->rounds_.finish([&](bool) {
                return scrape_text(503, "the daemon does not say how it is: "
                                          + reason_of(why));
              });
          });
    });
}

scrape_reply metrics_service::report(const mesh_status& node,
                                     bool is_open_metrics) const {
  auto facts = daemon_facts{};
  facts.version = options_.version;
  facts.dvm = options_.dvm;
  facts.cpu_time = cpu_time();
  facts.start_time = start_time_;
  const auto descriptors = current_descriptors();
  facts.descriptors = descriptors.in_use;
  facts.most_descriptors = descriptors.limit;
  facts.loop_latency = probe_.seen();
  auto result = scrape_reply{};
  result.type = is_open_metrics ? open_metrics_type : prometheus_type;
  if (!write_(node_metrics(node, facts), is_open_metrics, result.body))
    return scrape_text(503, "there is no memory for the metrics");
  return result;
}

} // namespace troupe
