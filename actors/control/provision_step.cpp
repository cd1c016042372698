#include "actors/control/checkpoint_steps.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

class provision_step : public control_step {
public:
  provision_step(const control_means& means, const control_order& order)
    : means_(means), nodes_(*order.directives.provision),
      image_(order.directives.image.value_or("")) {
    // nop
  }

  void begin(completion done) override {
    auto what = run_site_hook{};
    what.hook = site_hook::provision;
    what.arguments = {nodes_};
    if (!image_.empty())
      what.arguments.push_back(image_);
    what.environment = {std::string{provision_nodes_variable} + "=" + nodes_,
                        std::string{provision_image_variable} + "=" + image_};
    means_.run_hook(
      0, std::move(what),
      guard([this,
             done = std::move(done)](const caf::expected<site_hook_result>& x) {
        auto result = control_result{};
        if (!x) {
          result.code = status_of(x.error());
          result.reason = "nodes " + nodes_ + ": " + reason_of(x.error());
        } else if (x->exit_status != 0) {
          const auto end = std::min(x->output.find('\n'), size_t{200});
          result.code = status::error;
          result.reason = "nodes " + nodes_
                          + ": the site's hook for provision ended with status "
                          + std::to_string(x->exit_status) + ": "
                          + x->output.substr(0, end);
        }
        done(std::move(result));
      }));
  }

  control_result cancel() override {
    return {};
  }

private:
  const control_means& means_;
  std::string nodes_;
  std::string image_;
};

} // namespace

caf::expected<std::shared_ptr<control_step>>
make_provision_step(const control_means& means, const control_order& order) {
  if (!means.has_hook || !means.has_hook(site_hook::provision))
    return make_error(status::not_supported,
                      "this DVM has no hook that provisions nodes");
  if (!means.is_administrator || !means.is_administrator(order.who))
    return make_error(status::no_permissions,
                      "only the owner of the DVM may provision its nodes");
  if (order.directives.provision.value_or("").empty())
    return make_error(status::bad_param,
                      "name the nodes to provision (PMIX_JOB_CTRL_PROVISION)");
  return std::shared_ptr<control_step>{
    std::make_shared<provision_step>(means, order)};
}

} // namespace troupe
