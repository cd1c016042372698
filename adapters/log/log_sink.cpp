#include "adapters/log/log_sink.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/log/mail.hpp"
#include "adapters/log/syslog.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "config/escape.hpp"

#include <caf/all.hpp>

#include <functional>
#include <utility>

namespace troupe {

namespace {

using reply_promise = caf::typed_response_promise<ack>;

void write_text(fd_writer& writer, const std::string& text,
                reply_promise reply) {
  // A file gets the bytes; a terminal would obey them.
  auto shown =
    writer.is_terminal() ? escape_control_characters(text, true) : text;
  writer.write(std::move(shown), [reply]() mutable { reply.deliver(ack{}); });
}

/// Runs `work` on a thread of the pool and answers with its outcome.
void run_apart(thread_pool& pool, std::function<delivery_outcome()> work,
               reply_promise reply) {
  const auto outcome = std::make_shared<delivery_outcome>();
  const auto done = [outcome, reply]() mutable {
    if (outcome->code == status::success)
      reply.deliver(ack{});
    else
      reply.deliver(make_error(outcome->code, outcome->reason));
  };
  if (!pool.post([outcome, work = std::move(work)] { *outcome = work(); },
                 done))
    reply.deliver(
      make_error(status::resource_busy, "too much work waits on this node"));
}

void send_mail_apart(thread_pool& pool, const log_sink_settings& settings,
                     const log_entry& x, reply_promise reply) {
  auto mail = compose_mail(x.envelope, x.text);
  if (!mail) {
    reply.deliver(make_error(status::bad_param,
                             "a mail needs an address, and no more than 256; "
                             "addresses and subject must be one line each"));
    return;
  }
  run_apart(
    pool,
    [sendmail = settings.sendmail, limit = settings.mail_limit,
     mail = std::move(*mail)] { return send_mail(sendmail, mail, limit); },
    std::move(reply));
}

} // namespace

log_sink_actor::behavior_type
log_sink(log_sink_actor::stateful_pointer<log_sink_state> self,
         thread_pool* pool, log_sink_settings settings) {
  self->state.settings = std::move(settings);
  return {
    [self, pool](const log_entry& x) {
      const auto& s = self->state.settings;
      auto reply = self->make_response_promise<ack>();
      switch (x.channel) {
        case log_channel::stdout_:
          write_text(*s.out, x.text, reply);
          break;
        case log_channel::stderr_:
          write_text(*s.err, x.text, reply);
          break;
        case log_channel::local_syslog:
        case log_channel::global_syslog:
          run_apart(
            *pool,
            [socket = s.syslog_socket, name = s.syslog_name,
             priority = x.priority, text = x.text] {
              return write_syslog(socket, name, priority, text);
            },
            reply);
          break;
        case log_channel::email:
          send_mail_apart(*pool, s, x, reply);
          break;
        default:
          reply.deliver(make_error(status::not_supported));
      }
      return reply;
    },
  };
}

} // namespace troupe
