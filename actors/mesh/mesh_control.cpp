#include "actors/control/job_controller.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <algorithm>
#include <iterator>

// Job control: the root decides, with its job controller; all nodes do what it
// says to their processes, and keep what these register for cleanup.

namespace troupe::mesh_internals {

namespace {

// -- at the root
// -------------------------------------------------------------------

std::optional<controlled_job> look_up_job(const mesh_host_state& state,
                                          const std::string& nspace) {
  const auto i = state.jobs.find(nspace);
  if (i == state.jobs.end() || i->second.reporting)
    return std::nullopt;
  const auto& job = i->second;
  auto result = controlled_job{};
  result.owner = job.parent.creds;
  result.procs.reserve(job.procs.size());
  for (const auto& x : job.procs)
    result.procs.push_back({x.node, !x.has_ended()});
  return result;
}

/// Whether a job of this name has been: they are numbered.
bool has_ended(const mesh_host_state& state, const std::string& nspace) {
  const auto prefix = state.options.server.nspace + "@";
  if (nspace.compare(0, prefix.size(), prefix) != 0)
    return false;
  const auto digits = nspace.substr(prefix.size());
  const auto is_number =
    !digits.empty() && digits.size() < 10
    && std::all_of(digits.begin(), digits.end(),
                   [](char c) { return c >= '0' && c <= '9'; });
  return is_number && std::stoul(digits) < state.next_job;
}

/// Source: PMIx Standard v5, PMIX_JOB_CTRL_TERMINATE; OpenPMIx's tools end a
/// DVM like this.
caf::error halt(mesh_host_state& state, const requester& who) {
  const auto owner = state.options.owner.value_or(who.creds.uid);
  if (who.creds.uid != owner && who.creds.uid != 0)
    return make_error(status::no_permissions,
                      "this DVM is another user's: " + std::to_string(owner)
                        + " owns it, " + std::to_string(who.creds.uid)
                        + " asks");
  if (!is_tool(who.role))
    return make_error(status::bad_param,
                      to_string(who.proc)
                        + " belongs to no job here: name the processes to end");
  if (!state.options.on_terminate)
    return make_error(status::not_supported, "this server cannot be ended");
  state.options.on_terminate();
  return caf::none;
}

control_means means_of_control(self_pointer self) {
  auto out = control_means{};
  out.now = [self] { return self->clock().now().time_since_epoch(); };
  out.call_later = [self](control_means::time delay,
                          std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  out.act = [self](uint32_t node, control_procs what,
                   completion<procs_controlled> then) {
    ask(self, node, std::move(what),
        reply_to<procs_controlled>(std::move(then)));
  };
  out.end = [self](const end_job& how) { end(self, how); };
  out.halt = [self](const requester& who) { return halt(self->state, who); };
  out.define_set = [self](const define_process_set& what,
                          completion<ack> then) {
    define_set(self, what, std::move(then));
  };
  out.lookup.job = [self](const std::string& nspace) {
    return look_up_job(self->state, nspace);
  };
  out.lookup.set = [self](const std::string& name) {
    const auto* x = self->state.sets.find(name);
    return x != nullptr ? std::optional{*x} : std::nullopt;
  };
  out.lookup.has_ended = [self](const std::string& nspace) {
    return has_ended(self->state, nspace);
  };
  out.log = self->state.options.log;
  add_checkpoint_means(self, out);
  return out;
}

} // namespace

void start_control(self_pointer self) {
  if (!self->state.is_root())
    return;
  self->state.control =
    std::make_unique<job_controller>(means_of_control(self));
  start_checkpoints(self);
}

void control_at_root(self_pointer self, uint32_t from, const requester& who,
                     const job_control_request& request,
                     completion<info_result> done) {
  self->state.control->request(
    who, from, request, [done = std::move(done)](control_result x) {
      if (x.code == status::success)
        done(info_result{x.describe()});
      else
        done(make_error(x.code, x.reason, x.describe()));
    });
}

// -- at every node
// -----------------------------------------------------------------

namespace {

/// The parts of a request: what is registered for cleanup stays here.
struct split_request {
  job_control_request cleanup;
  job_control_request others;
};

split_request split(job_control_request what) {
  auto result = split_request{};
  for (auto& x : what.directives)
    (is_cleanup(x.key) ? result.cleanup : result.others)
      .directives.push_back(std::move(x));
  // There may be many: they are copied only if both parts need them.
  if (result.cleanup.directives.empty())
    result.others.targets = std::move(what.targets);
  else if (result.others.directives.empty())
    result.cleanup.targets = std::move(what.targets);
  else
    result.cleanup.targets = result.others.targets = std::move(what.targets);
  return result;
}

/// Whether a request is for the root: it does something, or has to be refused.
bool is_for_root(const split_request& x) {
  if (x.cleanup.directives.empty())
    return true;
  if (x.others.directives.empty())
    return false;
  const auto parsed = read_directives(x.others.directives);
  return parsed || status_of(parsed.error()) != status::not_supported
         || std::any_of(
           x.others.directives.begin(), x.others.directives.end(),
           [](const info& y) { return (y.flags & info_required) != 0; });
}

} // namespace

caf::result<info_result> control(self_pointer self, const requester& who,
                                 job_control_request& request) {
  auto parts = split(std::move(request));
  const auto ask_root_for = [self](const requester& who,
                                   job_control_request what,
                                   completion<info_result> done) {
    ask(self, 0, ask_root{who, std::move(what)},
        reply_to<info_result>(std::move(done)));
  };
  if (parts.cleanup.directives.empty())
    return answer_later<info_result>(self, [&](completion<info_result> done) {
      ask_root_for(who, std::move(parts.others), std::move(done));
    });
  const auto* x = self->state.find_share(who.proc.nspace);
  if (x == nullptr)
    return make_error(status::not_supported,
                      to_string(who.proc)
                        + " has no job here at whose end to clean up");
  if (!is_for_root(parts))
    return self->delegate(*x, who, std::move(parts.cleanup));
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    self->request(*x, caf::infinite, who, std::move(parts.cleanup))
      .then(
        [=, others = std::move(parts.others)](const info_result&) mutable {
          ask_root_for(who, std::move(others), done);
        },
        [done](caf::error& why) { done(std::move(why)); });
  });
}

void control_share(self_pointer self, const control_procs& what,
                   completion<procs_controlled> done) {
  const auto* x = self->state.find_share(what.nspace);
  if (x == nullptr) {
    done(procs_controlled{});
    return;
  }
  self->request(*x, caf::infinite, what)
    .then(
      [self, nspace = what.nspace, done](procs_controlled& x) {
        // Whoever is not among these has ended, which the root hears first.
        self->state.share_rules->when_root_knows(nspace,
                                                 [done, x] { done(x); });
      },
      [done](const caf::error&) {
        // The share has gone: so have its processes.
        done(procs_controlled{});
      });
}

} // namespace troupe::mesh_internals
