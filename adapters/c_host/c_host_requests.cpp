#include "adapters/c_host/c_host_requests.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// What a host may take for job control: as long as the requester waits; a
/// checkpoint as long as the processes take.
upcall_limit control_limit(const std::vector<info>& directives) {
  if (auto time = limit_of(directives))
    return time;
  if (find(directives, attr::job_ctrl_checkpoint) != nullptr)
    return std::nullopt;
  return usual_limit();
}

} // namespace

void c_host_requests::carry_out(const requester& who, abort_request& request,
                                upcall_receiver<ack> done) {
  const auto f = module_.abort;
  if (f == nullptr)
    return done(missing("abort"));
  auto args = arguments_of(who.proc);
  args->set_procs(request.procs);
  args->text = request.message.value_or("");
  calls_.make<ack>(
    "abort", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, settings_.objects->get(who.proc),
               request.exit_status, args->text.c_str(), args->procs.data(),
               args->procs.size(), upcalls::on_op, cbdata);
    });
}

// -- published data ----------------------------------------------------------

void c_host_requests::carry_out(const requester& who, publish_request& request,
                                upcall_receiver<ack> done) {
  const auto f = module_.publish;
  if (f == nullptr)
    return done(missing("publish"));
  auto args = arguments_of(who.proc);
  args->set_infos(with_credentials(std::move(request.infos), who));
  calls_.make<ack>("publish", args, usual_limit(), std::move(done),
                   [&](void* cbdata) {
                     return f(&args->proc, args->infos.data(),
                              args->infos.size(), upcalls::on_op, cbdata);
                   });
}

void c_host_requests::carry_out(const requester& who, lookup_request& request,
                                upcall_receiver<lookup_result> done) {
  const auto f = module_.lookup;
  if (f == nullptr)
    return done(missing("lookup"));
  auto args = arguments_of(who.proc);
  const auto waits = find(request.directives, attr::wait) != nullptr;
  const auto time = waits ? limit_of(request.directives) : usual_limit();
  args->set_keys(std::move(request.keys));
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<lookup_result>(
    "lookup", args, time, std::move(done), [&](void* cbdata) {
      return f(&args->proc, args->keys.data(), args->infos.data(),
               args->infos.size(), upcalls::on_lookup, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                unpublish_request& request,
                                upcall_receiver<ack> done) {
  const auto f = module_.unpublish;
  if (f == nullptr)
    return done(missing("unpublish"));
  auto args = arguments_of(who.proc);
  const auto all = request.keys.empty();
  args->set_keys(std::move(request.keys));
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<ack>(
    "unpublish", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, all ? nullptr : args->keys.data(),
               args->infos.data(), args->infos.size(), upcalls::on_op, cbdata);
    });
}

// -- jobs --------------------------------------------------------------------

void c_host_requests::carry_out(const requester& who, spawn_request& request,
                                upcall_receiver<spawn_result> done) {
  const auto f = module_.spawn;
  if (f == nullptr)
    return done(missing("spawn"));
  auto args = arguments_of(who.proc);
  const auto time = limit_of(request.job_infos);
  auto wish = c_host_streams::forwarded(who, request.job_infos);
  args->set_infos(with_credentials(std::move(request.job_infos), who));
  args->take(args->apps, c_api::to_c_apps(request.apps));
  calls_.make<spawned>(
    "spawn", args, time,
    [this, who, wish = std::move(wish),
     done = std::move(done)](caf::expected<spawned> x) {
      if (!x)
        return done(std::move(x.error()));
      streams_.forward(who, wish, x->nspace, [done, nspace = x->nspace] {
        done(spawn_result{nspace, {}, {}});
      });
    },
    [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               args->apps.data(), args->apps.size(), upcalls::on_spawn, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                job_control_request& request,
                                upcall_receiver<info_result> done) {
  const auto f = module_.job_control;
  if (f == nullptr)
    return done(missing("job_control"));
  auto args = arguments_of(who.proc);
  const auto time = control_limit(request.directives);
  args->set_procs(request.targets);
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<info_result>(
    "job_control", args, time,
    [done = std::move(done)](caf::expected<info_result> x) {
      if (!x || x->complete)
        return done(std::move(x));
      done(make_error(status::partial_success,
                      "the host did it to some of the targets",
                      std::move(x->infos)));
    },
    [&](void* cbdata) {
      return f(&args->proc, args->procs.data(), args->procs.size(),
               args->infos.data(), args->infos.size(), upcalls::on_info,
               cbdata);
    });
}

void c_host_requests::monitor(const requester& who, monitor_request& request,
                              upcall_receiver<info_result> done) {
  const auto f = module_.monitor;
  if (f == nullptr)
    return done(missing("monitor"));
  auto args = arguments_of(who.proc);
  args->set_infos({std::move(request.monitor)});
  args->set_directives(with_credentials(std::move(request.directives), who));
  calls_.make<info_result>(
    "monitor", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, args->infos.data(),
               static_cast<pmix_status_t>(request.error_code),
               args->directives.data(), args->directives.size(),
               upcalls::on_info, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                allocation_request& request,
                                upcall_receiver<info_result> done) {
  const auto f = module_.allocate;
  if (f == nullptr)
    return done(missing("allocate"));
  auto args = arguments_of(who.proc);
  args->set_infos(with_credentials(std::move(request.infos), who));
  calls_.make<info_result>(
    "allocate", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, request.directive, args->infos.data(),
               args->infos.size(), upcalls::on_info, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                session_control_request& request,
                                upcall_receiver<info_result> done) {
  const auto f = module_.session_control;
  if (f == nullptr)
    return done(missing("session_control"));
  auto args = arguments_of(who.proc);
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<info_result>(
    "session_control", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, request.session, args->infos.data(),
               args->infos.size(), upcalls::on_info, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                resource_block_request& request,
                                upcall_receiver<ack> done) {
  const auto f = module_.resource_block;
  if (f == nullptr)
    return done(missing("resource_block"));
  auto args = arguments_of(who.proc);
  args->text = request.block.value_or("");
  for (const auto& x : request.units)
    args->units.push_back({x.type, static_cast<size_t>(x.count)});
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<ack>(
    "resource_block", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc,
               static_cast<pmix_resource_block_directive_t>(request.directive),
               request.block ? args->text.c_str() : nullptr, args->units.data(),
               args->units.size(), args->infos.data(), args->infos.size(),
               upcalls::on_op, cbdata);
    });
}

void c_host_requests::conduct_group(host_group& request,
                                    upcall_receiver<info_result> done) {
  const auto f = module_.group;
  if (f == nullptr)
    return done(make_error(
      status::not_supported,
      "group " + request.id
        + " has members on other nodes, and the host has no group; Troupe's"
          " own mesh (TROUPE_MESH=1) would join them"));
  const auto operation = request.operation == group_operation::construct
                           ? PMIX_GROUP_CONSTRUCT
                           : PMIX_GROUP_DESTRUCT;
  auto args = std::make_shared<upcall_arguments>();
  const auto time = limit_of(request.directives);
  args->text = std::move(request.id);
  args->set_procs(request.procs);
  args->set_infos(without_false(std::move(request.directives)));
  calls_.make<info_result>(
    "group", args, time, std::move(done), [&](void* cbdata) {
      return f(operation, args->text.data(), args->procs.data(),
               args->procs.size(), args->infos.data(), args->infos.size(),
               upcalls::on_info, cbdata);
    });
}

// -- events, logs and queries ------------------------------------------------

namespace {

/// Takes PMIX_QUERY_ATTRIBUTE_SUPPORT out of queries, and answers it: hosts are
/// not asked, since they register what they support.
/// Source: PMIx Standard v5, `PMIx_Register_attributes`.
std::vector<info> take_support(std::vector<query>& queries,
                               const registered_attributes& registered) {
  auto result = std::vector<info>{};
  for (auto& x : queries) {
    const auto end =
      std::remove(x.keys.begin(), x.keys.end(), attr::query_attribute_support);
    if (end == x.keys.end())
      continue;
    x.keys.erase(end, x.keys.end());
    auto found = registered.describe(x.qualifiers);
    if (!found.empty())
      result.push_back(make_info(attr::query_attribute_support,
                                 value::infos(std::move(found))));
  }
  queries.erase(std::remove_if(queries.begin(), queries.end(),
                               [](const query& x) { return x.keys.empty(); }),
                queries.end());
  return result;
}

} // namespace

void c_host_requests::notify(const requester& who, notify_request& request,
                             upcall_receiver<ack> done) {
  const auto is_heard =
    request.range == data_range::rm
    && settings_.on_manager_event(
      event{request.code, who.proc, request.range, request.infos});
  const auto f = module_.notify_event;
  if (f == nullptr)
    return is_heard ? done(ack{}) : done(missing("notify_event"));
  auto args = arguments_of(who.proc);
  mark_origin(request.infos, settings_.origin);
  args->set_infos(request.infos);
  calls_.make<ack>(
    "notify_event", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(static_cast<pmix_status_t>(request.code), &args->proc,
               static_cast<pmix_data_range_t>(request.range),
               args->infos.data(), args->infos.size(), upcalls::on_op, cbdata);
    });
}

void c_host_requests::register_events(const requester& who,
                                      const register_events_request& request,
                                      upcall_receiver<ack> done) {
  const auto f = module_.register_events;
  if (f == nullptr)
    return done(missing("register_events"));
  auto args = arguments_of(who.proc);
  args->set_codes(request.codes);
  args->set_infos(request.directives);
  calls_.make<ack>(
    "register_events", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(args->codes_or_null(), args->codes.size(), args->infos.data(),
               args->infos.size(), upcalls::on_op, cbdata);
    });
}

void c_host_requests::deregister_events(
  const requester& who, const deregister_events_request& request) {
  const auto f = module_.deregister_events;
  if (f == nullptr)
    return;
  const auto call = [&](const std::vector<status>& codes) {
    auto args = arguments_of(who.proc);
    args->set_codes(codes);
    calls_.make<ack>(
      "deregister_events", args, usual_limit(),
      [](const caf::expected<ack>&) {
        // Nobody waits for it.
      },
      [&](void* cbdata) {
        return f(args->codes_or_null(), args->codes.size(), upcalls::on_op,
                 cbdata);
      });
  };
  // All codes are a call of their own: a null list, as in registering.
  auto codes = request.codes;
  const auto all = std::remove(codes.begin(), codes.end(), default_events);
  const auto has_all = all != codes.end();
  codes.erase(all, codes.end());
  if (has_all)
    call({});
  if (!codes.empty())
    call(codes);
}

void c_host_requests::log(const requester& who, const log_request& request,
                          upcall_receiver<ack> done) {
  if (module_.log == nullptr && module_.log2 == nullptr)
    return done(missing("log"));
  auto args = arguments_of(who.proc);
  args->set_infos(request.data);
  args->set_directives(request.directives);
  calls_.make<ack>(
    "log", args, usual_limit(), std::move(done),
    [&](void* cbdata) -> pmix_status_t {
      if (module_.log2 != nullptr)
        return module_.log2(&args->proc, args->infos.data(), args->infos.size(),
                            args->directives.data(), args->directives.size(),
                            upcalls::on_op, cbdata);
      module_.log(&args->proc, args->infos.data(), args->infos.size(),
                  args->directives.data(), args->directives.size(),
                  upcalls::on_op, cbdata);
      return PMIX_SUCCESS;
    });
}

void c_host_requests::query(const requester& who, const query_request& request,
                            upcall_receiver<info_result> done) {
  auto asked = request.queries;
  auto known = take_support(asked, *settings_.attributes);
  const auto is_all = asked.empty() && !request.queries.empty();
  const auto f = module_.query;
  if (f == nullptr || is_all) {
    if (known.empty())
      return done(f == nullptr ? missing("query")
                               : make_error(status::not_found,
                                            "the host registered nothing"));
    return done(info_result{std::move(known), is_all});
  }
  auto args = arguments_of(who.proc);
  args->take(args->queries, c_api::to_c_queries(asked));
  calls_.make<info_result>(
    "query", args, usual_limit(),
    [known = std::move(known),
     done = std::move(done)](caf::expected<info_result> x) {
      if (!x && !known.empty())
        return done(info_result{known, false});
      if (x)
        x->infos.insert(x->infos.begin(), known.begin(), known.end());
      done(std::move(x));
    },
    [&](void* cbdata) {
      return f(&args->proc, args->queries.data(), args->queries.size(),
               upcalls::on_info, cbdata);
    });
}

// -- credentials and fabric --------------------------------------------------

void c_host_requests::carry_out(const requester& who,
                                get_credential_request& request,
                                upcall_receiver<get_credential_result> done) {
  const auto f = module_.get_credential;
  if (f == nullptr)
    return done(missing("get_credential"));
  auto args = arguments_of(who.proc);
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<get_credential_result>(
    "get_credential", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               upcalls::on_credential, cbdata);
    });
}

void c_host_requests::carry_out(const requester& who,
                                validate_credential_request& request,
                                upcall_receiver<info_result> done) {
  const auto f = module_.validate_credential;
  if (f == nullptr)
    return done(missing("validate_credential"));
  auto args = arguments_of(who.proc);
  args->set_bytes(std::move(request.credential));
  args->set_infos(with_credentials(std::move(request.directives), who));
  calls_.make<info_result>("validate_credential", args, usual_limit(),
                           std::move(done), [&](void* cbdata) {
                             return f(&args->proc, &args->object,
                                      args->infos.data(), args->infos.size(),
                                      upcalls::on_validation, cbdata);
                           });
}

void c_host_requests::carry_out(const requester& who,
                                fabric_register_request& request,
                                upcall_receiver<info_result> done) {
  ask_fabric(who, PMIX_FABRIC_REQUEST_INFO, request.directives,
             std::move(done));
}

void c_host_requests::carry_out(const requester& who,
                                fabric_update_request& request,
                                upcall_receiver<info_result> done) {
  ask_fabric(who, PMIX_FABRIC_UPDATE_INFO,
             {make_info(attr::fabric_index, value::size(request.index))},
             std::move(done));
}

void c_host_requests::ask_fabric(const requester& who,
                                 pmix_fabric_operation_t operation,
                                 const std::vector<info>& directives,
                                 upcall_receiver<info_result> done) {
  const auto f = module_.fabric;
  if (f == nullptr)
    return done(missing("fabric"));
  auto args = arguments_of(who.proc);
  args->set_infos(with_credentials(directives, who));
  calls_.make<info_result>(
    "fabric", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(&args->proc, operation, args->infos.data(), args->infos.size(),
               upcalls::on_info, cbdata);
    });
}

// -- output ------------------------------------------------------------------

void c_host_requests::carry_out(const requester& who, io_pull_request& request,
                                upcall_receiver<io_pull_result> done) {
  streams_.pull(who, request, std::move(done));
}

void c_host_requests::carry_out(const requester& who,
                                io_deregister_request& request,
                                upcall_receiver<ack> done) {
  streams_.end_pull(who, request, std::move(done));
}

} // namespace troupe
