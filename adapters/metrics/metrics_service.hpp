#pragma once

#include "adapters/loop/loop_system.hpp"
#include "adapters/metrics/loop_probe.hpp"
#include "adapters/metrics/metrics_module.hpp"
#include "adapters/metrics/metrics_place.hpp"
#include "adapters/metrics/scrape_rounds.hpp"
#include "adapters/metrics/scrape_server.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct metrics_options {
  metrics_place where;

  /// Knows how the node is.
  mesh_host_actor host;

  /// The release of the daemon, and the name of its DVM.
  std::string version;
  std::string dvm;

  /// The path of the program, without symbolic links.
  std::filesystem::path program;
};

/// Tells whoever asks by HTTP, at `/metrics`, how this node is. Answers are made when
/// they are asked for, of what the actors say of themselves then, for all who ask at
/// a time; between two rounds of them only the loop is looked at. For the thread of the loop, or for any
/// while nobody is in `run`. Source: docs/metrics.md; docs/decisions/0020.
class metrics_service {
public:
  /// @param loop Must outlive the service.
  /// @returns why it cannot tell them, in a sentence.
  static caf::expected<std::unique_ptr<metrics_service>>
  start(loop_system& loop, metrics_options options);

  ~metrics_service();

  metrics_service(const metrics_service&) = delete;
  metrics_service& operator=(const metrics_service&) = delete;

private:
  metrics_service(loop_system& loop, metrics_options options,
                  std::vector<unique_fd> doors,
                  std::function<metrics_writer_function> write);

  void answer(const scrape_request& request,
              const scrape_server::responder& reply);
  void ask();
  scrape_reply report(const mesh_status& node, bool is_open_metrics) const;

  loop_system& loop_;
  metrics_options options_;
  std::function<metrics_writer_function> write_;
  double start_time_;
  loop_probe probe_;
  scrape_rounds rounds_;
  scrape_server server_;

  /// Tells answers that are on their way whether we are still there.
  std::shared_ptr<metrics_service*> alive_;
};

} // namespace troupe
