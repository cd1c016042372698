#include "actors/control/logs.hpp"

#include "base/directives.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace troupe {

namespace {

std::optional<log_channel> channel_of(const std::string& key) {
  if (key == attr::log_stdout)
    return log_channel::stdout_;
  if (key == attr::log_stderr)
    return log_channel::stderr_;
  if (key == attr::log_syslog || key == attr::log_local_syslog)
    return log_channel::local_syslog;
  if (key == attr::log_global_syslog)
    return log_channel::global_syslog;
  if (key == attr::log_email)
    return log_channel::email;
  return std::nullopt;
}

/// Text or bytes of a value; nothing for other types.
std::optional<std::string> text_of(const value& x) {
  if (const auto* str = x.text())
    return *str;
  if (x.type == data_type::byte_object)
    if (const auto* bytes = std::get_if<std::string>(&x.data))
      return *bytes;
  return std::nullopt;
}

/// Takes address, subject and message from the array of a mail, or else from
/// the directives. A mail without a subject gets one that names its sender.
/// @returns why it cannot be sent. It goes through the node's `sendmail`, which
///          knows its server: one that the requester insists on is refused.
/// Source: RFC0015; PMIx Standard v5, PMIX_LOG_EMAIL and _EMAIL_SERVER.
caf::error read_mail(const requester& who, const value& x,
                     const std::vector<info>& directives, log_entry& entry) {
  auto fields = infos_of(x);
  fields.insert(fields.end(), directives.begin(), directives.end());
  for (const auto& y : fields)
    if ((y.flags & info_required) != 0
        && (y.key == attr::log_email_server
            || y.key == attr::log_email_srvr_port))
      return make_error(status::not_supported,
                        y.key
                          + " is required, but mail goes by sendmail; leave it "
                            "out, or do not require it");
  entry.envelope.to = text(fields, attr::log_email_addr).value_or("");
  entry.envelope.from = text(fields, attr::log_email_sender_addr);
  entry.envelope.subject = text(fields, attr::log_email_subject);
  if (!entry.envelope.subject)
    entry.envelope.subject = "Message of " + to_string(who.proc);
  auto body = text_of(x);
  if (!body)
    if (const auto* message = find(fields, attr::log_email_msg))
      body = text_of(*message);
  entry.text = body.value_or("");
  if (entry.envelope.to.empty())
    return make_error(status::bad_param,
                      "a mail needs an address in PMIX_LOG_EMAIL_ADDR");
  return caf::none;
}

/// The time of an entry that is to show it: that of the call, if the requester
/// wants one generated or gives none. Libraries send none that they have not
/// generated: 0 or -1.
/// Source: PMIx Standard v5, PMIX_LOG_GENERATE_TIMESTAMP, PMIX_LOG_TIMESTAMP.
std::optional<uint64_t> time_of(const log_request& request) {
  const auto is_generated =
    flag(request.directives, attr::log_generate_timestamp);
  if (!is_generated && !flag(request.directives, attr::log_timestamp_output))
    return std::nullopt;
  const auto given = number<uint64_t>(request.directives, attr::log_timestamp);
  if (given && !is_generated)
    return given;
  if (request.timestamp == 0 || request.timestamp > INT64_MAX)
    return std::nullopt;
  return request.timestamp;
}

/// The text before an entry, as the directives ask.
std::string prefix(const requester& who, const log_request& request) {
  auto result = std::string{};
  if (const auto time = time_of(request))
    result += std::to_string(*time) + " ";
  if (flag(request.directives, attr::log_tag_output))
    result += "[" + to_string(who.proc) + "] ";
  return result;
}

void note_problem(log_plan& plan, status code, std::string reason) {
  if (plan.code != status::success)
    return;
  plan.code = code;
  plan.reason = std::move(reason);
}

} // namespace

log_plan plan_log(const requester& who, const log_request& request) {
  auto plan = log_plan{};
  plan.once = flag(request.directives, attr::log_once);
  const auto priority =
    number<int64_t>(request.directives, attr::log_syslog_pri);
  for (const auto& x : request.data) {
    const auto channel = channel_of(x.key);
    if (!channel) {
      note_problem(plan, status::not_supported,
                   "no log channel takes " + x.key);
      plan.others.push_back(x);
      continue;
    }
    auto entry = log_entry{};
    entry.channel = *channel;
    if (priority)
      entry.priority =
        static_cast<uint8_t>(std::clamp<int64_t>(*priority, 0, 7));
    if (*channel == log_channel::email) {
      if (auto why = read_mail(who, x.val, request.directives, entry)) {
        note_problem(plan, status_of(why), reason_of(why));
        plan.drops = true;
        continue;
      }
    } else if (const auto str = text_of(x.val)) {
      entry.text = prefix(who, request) + *str;
    } else {
      note_problem(plan, status::bad_param,
                   x.key + " needs a string, not a " + to_string(x.val.type));
      continue;
    }
    plan.entries.push_back(std::move(entry));
  }
  if (request.data.empty())
    note_problem(plan, status::bad_param, "there is nothing to log");
  return plan;
}

namespace {

/// A log request on its way through its channels.
struct log_job {
  requester who;
  log_request others;
  log_plan plan;
  log_effects out;
  completion<ack> reply;
  size_t next = 0;
  size_t written = 0;

  void finish() const {
    if (written > 0 && (plan.once || plan.code == status::success))
      reply(ack{});
    else if (written > 0)
      reply(make_error(status::partial_success, plan.reason));
    else
      reply(make_error(plan.code, plan.reason));
  }
};

/// Data for which this node has no channel may go to the host.
void ask_host(const std::shared_ptr<log_job>& job) {
  job->out.ask_host(
    job->who, std::move(job->others), [job](const caf::expected<ack>& x) {
      if (x) {
        ++job->written;
        if (job->plan.code == status::not_supported && !job->plan.drops)
          job->plan.code = status::success;
      }
      job->finish();
    });
}

void write_next(const std::shared_ptr<log_job>& job) {
  auto& plan = job->plan;
  const auto is_enough = plan.once && job->written > 0;
  if (is_enough || job->next == plan.entries.size()) {
    if (is_enough || job->others.data.empty())
      job->finish();
    else
      ask_host(job);
    return;
  }
  job->out.write(std::move(plan.entries[job->next++]),
                 [job](const caf::expected<ack>& x) {
                   if (x) {
                     ++job->written;
                   } else {
                     const auto why = reason_of(x.error());
                     if (job->plan.code == status::success) {
                       job->plan.code = status_of(x.error());
                       job->plan.reason = why;
                     }
                     if (job->out.log)
                       job->out.log(severity::warning,
                                    "a log entry of " + to_string(job->who.proc)
                                      + " is lost: " + why);
                   }
                   write_next(job);
                 });
}

} // namespace

void write_log(const requester& who, const log_request& request,
               const log_effects& out, completion<ack> reply) {
  auto plan = plan_log(who, request);
  // What the host alone writes is its business.
  if (!plan.entries.empty())
    if (auto why =
          check_required(pmix_call::log, request.directives, next_host::ours)) {
      reply(std::move(why));
      return;
    }
  auto others =
    log_request{request.timestamp, std::move(plan.others), request.directives};
  write_next(std::make_shared<log_job>(
    log_job{who, std::move(others), std::move(plan), out, std::move(reply)}));
}

} // namespace troupe
