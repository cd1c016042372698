#include "c_api/server_output.hpp"

#include "actors/answer.hpp"
#include "actors/io/output_formatter.hpp"
#include "actors/io/tool_output.hpp"
#include "actors/jobs/io_options.hpp"
#include "adapters/log/local_time.hpp"
#include "c_api/library.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::c_api {

namespace {

/// What is kept for each delivery beside its bytes.
constexpr size_t overhead = 256;

struct own_output_options {
  uint64_t handler = 0;
  bool with_offsets = false;
  output_format format;
};

/// What goes when the program has taken it, on whatever thread that is; then
/// the actor that owes the answer is told on its own.
std::shared_ptr<void> receipt_for(caf::typed_response_promise<ack> promise) {
  auto owed = std::make_shared<answer<ack>>(std::move(promise));
  return {nullptr, [owed](void*) {
            library::instance().post([owed] { owed->give(ack{}); });
          }};
}

output_sink_actor::behavior_type own_output(output_sink_actor::pointer self,
                                            const own_output_options& options) {
  const auto show_time = [](int64_t at) { return local_time(at); };
  auto format = options.with_offsets
                  ? output_formatter{}
                  : output_formatter{options.format, show_time};
  return {
    [self, options, format = std::move(format)](
      io_fragment& what) mutable -> caf::result<ack> {
      auto delivery = io_delivery{};
      delivery.source = what.stream.source;
      delivery.channel = what.stream.channel;
      delivery.handler = options.handler;
      const auto is_end = what.is_end;
      if (options.with_offsets)
        delivery.infos = {
          {std::string{io_offset_key}, 0, value::uint64(what.offset)}};
      if (what.missed > 0)
        delivery.infos.push_back(
          {std::string{io_missed_key}, 0, value::uint64(what.missed)});
      delivery.bytes = format.format(std::move(what));
      auto promise = self->make_response_promise<ack>();
      const auto receipt = receipt_for(promise);
      if (!delivery.bytes.empty())
        library::instance().push(delivery, receipt);
      if (is_end) {
        delivery.bytes.clear();
        delivery.infos.push_back(
          {std::string{attr::iof_complete}, 0, value::boolean(true)});
        library::instance().push(std::move(delivery), receipt);
      }
      return promise;
    },
  };
}

} // namespace

output_sink_actor make_output_sink(caf::actor_system& sys,
                                   const server_actor& server,
                                   const requester& who, uint64_t handler,
                                   const std::vector<info>& directives) {
  const auto format = read_output_format(directives);
  const auto with_offsets = flag(directives, io_offsets_key);
  if (who.index == 0)
    return sys.spawn(own_output,
                     own_output_options{handler, with_offsets,
                                        format ? *format : output_format{}});
  auto options = tool_output_options{};
  options.server = server;
  options.who = who;
  options.handler = handler;
  options.with_offsets = with_offsets;
  options.show_time = [](int64_t at) { return local_time(at); };
  if (format)
    options.format = *format;
  return spawn_tool_output(sys, std::move(options));
}

std::shared_ptr<void> delivered_bytes::add(size_t size) {
  const auto all = size + overhead;
  const auto before = waiting_->fetch_add(all);
  if (before > 0 && before + all > defaults::io_window_total) {
    waiting_->fetch_sub(all);
    return nullptr;
  }
  // A pointer to something: only then it counts as one.
  return {waiting_.get(),
          [waiting = waiting_, all](void*) { waiting->fetch_sub(all); }};
}

std::vector<process_output> outputs_of(const proc_id& source,
                                       io_channels channel, std::string bytes,
                                       const std::vector<info>& infos) {
  auto result = std::vector<process_output>{};
  const auto is_end = bytes.empty() || flag(infos, attr::iof_complete);
  if (!bytes.empty())
    result.push_back({source, channel, std::move(bytes), 0});
  if (is_end)
    result.push_back({source, channel, {}, 0});
  return result;
}

} // namespace troupe::c_api
