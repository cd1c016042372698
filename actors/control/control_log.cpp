#include "actors/control/control_log.hpp"

#include "actors/control/control_directives.hpp"
#include "actors/control/logs.hpp"
#include "base/all_of.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// Targets that an entry names.
constexpr size_t shown_targets = 8;

constexpr std::string_view channels[] = {
  attr::log_stdout,       attr::log_stderr,        attr::log_syslog,
  attr::log_local_syslog, attr::log_global_syslog, attr::log_email};

constexpr std::string_view fields_of_mail[] = {
  attr::log_email_addr, attr::log_email_sender_addr, attr::log_email_subject,
  attr::log_email_msg,  attr::log_email_server,      attr::log_email_srvr_port};

constexpr std::string_view options[] = {
  attr::log_syslog_pri, attr::log_tag_output, attr::log_timestamp_output,
  attr::log_timestamp, attr::log_generate_timestamp};

template <size_t N>
bool is_among(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

/// A bool that is false is a channel that is not wanted.
bool is_wanted(const info& x) {
  return !std::holds_alternative<bool>(x.val.data) || x.val.truth();
}

/// `2026-01-31 23:59:59 UTC`. By hand, since the library's function reads files.
/// Source: the Gregorian calendar, in years that begin in March.
std::string show_time(int64_t seconds) {
  constexpr int64_t a_day = 86400;
  constexpr int64_t days_of_400_years = 146097;
  auto days = seconds / a_day;
  auto rest = seconds % a_day;
  if (rest < 0) {
    rest += a_day;
    --days;
  }
  days += 719468; // From March 1st of the year 0 to 1970.
  const auto era =
    (days >= 0 ? days : days - days_of_400_years + 1) / days_of_400_years;
  const auto day = days - era * days_of_400_years;
  const auto year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  const auto day_of_year = day - (365 * year + year / 4 - year / 100);
  const auto month = (5 * day_of_year + 2) / 153;
  const auto is_early = month >= 10;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(),
                "%04lld-%02lld-%02lld %02lld:%02lld:%02lld UTC",
                static_cast<long long>(year + era * 400 + (is_early ? 1 : 0)),
                static_cast<long long>(is_early ? month - 9 : month + 3),
                static_cast<long long>(day_of_year - (153 * month + 2) / 5 + 1),
                static_cast<long long>(rest / 3600),
                static_cast<long long>(rest / 60 % 60),
                static_cast<long long>(rest % 60));
  return buffer.data();
}

std::string show_targets(const requester& who,
                         const std::vector<proc_id>& targets) {
  if (targets.empty())
    return who.proc.nspace;
  auto result = std::string{};
  for (size_t i = 0; i < std::min(targets.size(), shown_targets); ++i)
    result += (i > 0 ? ", " : "") + to_string(targets[i]);
  if (targets.size() > shown_targets)
    result +=
      " and " + std::to_string(targets.size() - shown_targets) + " others";
  return result;
}

std::string show_outcome(const caf::expected<info_result>& x) {
  if (!x)
    return "it failed: " + reason_of(x.error());
  const auto reached = number<size_t>(x->infos, control_key::reached);
  const auto why = text(x->infos, attr::event_text_message);
  auto result = std::string{"it has been done"};
  if (reached)
    result += " to " + std::to_string(*reached)
              + (*reached == 1 ? " process" : " processes");
  return why ? result + ": " + *why : result;
}

/// A channel, and what becomes of it.
struct log_channel_use {
  info channel;
  status outcome = status::success;

  bool is_required() const {
    return (channel.flags & info_required) != 0;
  }
};

/// A request on its way.
struct logged_request {
  requester who;
  job_control_request what;
  control_log_means out;
  completion<info_result> done;

  std::vector<log_channel_use> uses;

  /// What the directives say of all channels.
  std::vector<info> directives;

  /// Who wants what, of whom.
  std::string subject;
  std::optional<caf::expected<info_result>> outcome;

  std::optional<int64_t> now() const {
    return out.now ? std::optional{out.now()} : std::nullopt;
  }

  log_request entry(const info& channel, const std::string& what) const;
  std::optional<std::string> own_text(const info& channel) const;
  void finish();
};

using request_ptr = std::shared_ptr<logged_request>;

/// The text that the requester gave for a channel.
std::optional<std::string> logged_request::own_text(const info& channel) const {
  if (const auto* x = channel.val.text())
    return *x;
  if (channel.key != attr::log_email)
    return std::nullopt;
  auto own = text(infos_of(channel.val), attr::log_email_msg);
  return own ? own : text(directives, attr::log_email_msg);
}

log_request logged_request::entry(const info& channel,
                                  const std::string& what) const {
  const auto time = now();
  const auto is_mail = channel.key == attr::log_email;
  auto line = (time ? show_time(*time) + ": " : std::string{}) + subject + what;
  if (const auto own = own_text(channel))
    line = *own + (is_mail ? "\n\n" : ": ") + line;
  if (channel.key == attr::log_stdout || channel.key == attr::log_stderr)
    line += '\n';
  auto result = log_request{};
  result.timestamp = static_cast<uint64_t>(time.value_or(0));
  result.directives = directives;
  if (!is_mail) {
    result.data = {{channel.key, 0, value::string(std::move(line))}};
    return result;
  }
  auto fields = infos_of(channel.val);
  // The first of a key counts.
  fields.insert(fields.begin(),
                make_info(attr::log_email_msg, value::string(std::move(line))));
  result.data = {{channel.key, 0, value::infos(std::move(fields))}};
  return result;
}

void logged_request::finish() {
  auto told = std::vector<info>{};
  for (const auto& x : uses)
    told.push_back(make_info(
      x.channel.key, value::of_status(static_cast<int32_t>(x.outcome))));
  auto log = make_info(control_key::log, value::infos(std::move(told)));
  if (*outcome) {
    (*outcome)->infos.push_back(std::move(log));
    done(std::move(*outcome));
    return;
  }
  const auto& why = outcome->error();
  auto infos = explanation_of(why);
  infos.push_back(std::move(log));
  done(make_error(status_of(why), reason_of(why), std::move(infos)));
}

/// Takes what is for logs out of the directives.
/// @returns why it makes no sense, if so.
caf::error take_channels(logged_request& to) {
  auto rest = std::vector<info>{};
  auto has_mail = false;
  auto has_address = false;
  for (auto& x : to.what.directives) {
    const auto is_channel = is_among(channels, x.key);
    const auto is_of_mail = is_among(fields_of_mail, x.key);
    has_mail |= x.key == attr::log_email;
    has_address |= x.key == attr::log_email_addr;
    if (is_channel && is_wanted(x))
      to.uses.push_back({std::move(x)});
    else if (is_of_mail || is_among(options, x.key))
      to.directives.push_back(std::move(x));
    else if (!is_channel)
      rest.push_back(std::move(x));
  }
  to.what.directives = std::move(rest);
  if (has_address && !has_mail) {
    const auto* address = &*std::find_if(
      to.directives.begin(), to.directives.end(),
      [](const info& x) { return x.key == attr::log_email_addr; });
    to.uses.push_back({{std::string{attr::log_email}, address->flags,
                        value::infos(std::vector<info>{})}});
  }
  for (const auto& x : to.uses) {
    const auto plan = plan_log(to.who, to.entry(x.channel, ""));
    if (plan.code == status::bad_param
        || (plan.code != status::success && x.is_required()))
      return make_error(plan.code, plan.reason);
  }
  return caf::none;
}

/// Writes an entry to a channel.
void write(const request_ptr& job, size_t use, const std::string& what,
           std::function<void()> then) {
  job->out.write(job->entry(job->uses[use].channel, what),
                 [job, use, then = std::move(then)](caf::expected<ack> x) {
                   auto& outcome = job->uses[use].outcome;
                   if (!x && outcome == status::success)
                     outcome = status_of(x.error());
                   then();
                 });
}

using all_written = all_of<request_ptr>;

void perform(const all_written& all) {
  const auto& job = *all;
  all.add();
  job->out.perform(std::move(job->what), [all](caf::expected<info_result> x) {
    const auto& job = *all;
    const auto what = ": " + show_outcome(x);
    job->outcome.emplace(std::move(x));
    for (size_t i = 0; i < job->uses.size(); ++i) {
      all.add();
      write(job, i, what, [all] { all.done(); });
    }
    all.done();
  });
}

} // namespace

bool asks_for_log(const std::vector<info>& directives) {
  return std::any_of(directives.begin(), directives.end(), [](const info& x) {
    return is_among(channels, x.key) || x.key == attr::log_email_addr;
  });
}

void control_and_log(const requester& who, job_control_request request,
                     control_log_means out, completion<info_result> done) {
  const auto job = std::make_shared<logged_request>();
  job->who = who;
  job->what = std::move(request);
  job->out = std::move(out);
  job->done = std::move(done);
  const auto meant = read_directives(job->what.directives);
  const auto summary = meant ? meant->summary() : std::string{};
  job->subject = to_string(who.proc) + " of user "
                 + std::to_string(who.creds.uid) + " has asked for job control"
                 + (summary.empty() ? "" : ", " + summary) + ", of "
                 + show_targets(who, job->what.targets);
  if (auto why = take_channels(*job)) {
    job->done(std::move(why));
    return;
  }
  // What is required is written before anything is done; the rest meanwhile.
  const auto all = all_written{job, [](const request_ptr& x) { x->finish(); }};
  const auto required = all_of<request_ptr>{
    job, [all](const request_ptr& x) {
      for (const auto& use : x->uses)
        if (use.is_required() && use.outcome != status::success) {
          x->done(make_error(
            use.outcome, use.channel.key
                           + " is required, and cannot be "
                             "written to; leave it out, or do not require it"));
          return;
        }
      perform(all);
      all.done();
    }};
  for (size_t i = 0; i < job->uses.size(); ++i) {
    const auto is_required = job->uses[i].is_required();
    if (is_required)
      required.add();
    else
      all.add();
    write(job, i, "", [all, required, is_required] {
      if (is_required)
        required.done();
      else
        all.done();
    });
  }
  required.done();
}

} // namespace troupe
