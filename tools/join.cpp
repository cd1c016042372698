#include "tools/join.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "runtime/mesh_member.hpp"
#include "tools/guarded_main.hpp"
#include "tools/member_daemon.hpp"
#include "tools/notice.hpp"

#include <unistd.h>

namespace troupe {

namespace {

struct invitation {
  join_settings settings;
  std::shared_ptr<const secure_context> context;
};

caf::expected<invitation> read_invitation() {
  auto input =
    read_secret(STDIN_FILENO, max_join_settings + max_credentials_size);
  if (!input)
    return std::move(input.error());
  auto rest = std::string_view{};
  auto settings = decode_join_settings(input->view(), rest);
  if (!settings)
    return std::move(settings.error());
  const auto credentials = decode_credentials(rest);
  if (!credentials)
    return make_error(status::bad_param,
                      "the credentials on standard input are damaged; start "
                      "the daemon by troupe up");
  auto context = secure_context::make(*credentials);
  if (!context)
    return std::move(context.error());
  const auto& me = (**context).self();
  if (me.dvm != settings->dvm || me.rank != settings->rank
      || me.name != settings->name)
    return make_error(status::no_permissions,
                      "the credentials are those of " + to_string(me)
                        + ", not of this node; start the daemon by troupe up");
  if (settings->is_insecure)
    context = secure_context::make_insecure(node_identity{me});
  if (!context)
    return std::move(context.error());
  return invitation{std::move(*settings), std::move(*context)};
}

} // namespace

int join(bool stays_attached) {
  auto self = stays_attached ? detached::none() : detached::split();
  // Before there are keys.
  auto guard = orphan_guard::start();
  hide_memory();
  auto found = read_invitation();
  if (!found) {
    const auto status = failure_status(found.error());
    self.report(status, notice("trouped", reason_of(found.error())));
    return status;
  }
  return run_member(std::move(found->settings), std::move(found->context),
                    std::move(self), false, std::move(guard));
}

} // namespace troupe
