#include "adapters/networks/network_runner.hpp"

#include "adapters/loop/event_loop.hpp"

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe {

namespace {

/// Bytes of frames that wait for the owner's loop; at the bound nothing is
/// read.
constexpr size_t waiting_max = size_t{1} << 20;

/// What a network has to tell, on its way to the owner's loop: many things cost
/// one wake-up.
class relay : public std::enable_shared_from_this<relay> {
public:
  using event = std::function<void(network_owner&)>;

  relay(event_loop& main, network_owner& owner) : main_(main), owner_(&owner) {
    // nop
  }

  /// On any thread. @returns the bytes that wait.
  size_t put(event x, size_t cost = 0) {
    const std::lock_guard<std::mutex> guard{mutex_};
    events_.push_back(std::move(x));
    waiting_ += cost;
    if (!std::exchange(is_posted_, true))
      main_.post([self = shared_from_this()] { self->deliver(); });
    return waiting_;
  }

  /// Called on the owner's loop when all that waited has been given out.
  void on_empty(std::function<void()> f) {
    on_empty_ = std::move(f);
  }

  /// On the owner's loop: it hears no more.
  void close() {
    owner_ = nullptr;
    on_empty_ = nullptr;
  }

private:
  void deliver() {
    std::vector<event> events;
    {
      const std::lock_guard<std::mutex> guard{mutex_};
      events.swap(events_);
      is_posted_ = false;
      waiting_ = 0;
    }
    for (auto& x : events)
      if (owner_ != nullptr)
        x(*owner_);
    if (on_empty_)
      on_empty_();
  }

  event_loop& main_;
  network_owner* owner_;
  std::function<void()> on_empty_;

  std::mutex mutex_;
  std::vector<event> events_; // guarded by mutex_
  size_t waiting_ = 0;        // guarded by mutex_
  bool is_posted_ = false;    // guarded by mutex_
};

} // namespace

class network_runner::thread : public network_owner {
public:
  thread(event_loop& main, std::shared_ptr<const secure_context> context,
         network_settings settings, network_owner& owner)
    : relay_(std::make_shared<relay>(main, owner)) {
    if (settings.log)
      settings.log = [relay = relay_, log = settings.log](
                       severity weight, const std::string& line) {
        relay->put([=](network_owner&) { log(weight, line); });
      };
    network_ = std::make_unique<network>(loop_, std::move(context),
                                         std::move(settings), *this);
    relay_->on_empty([this] { go_on(); });
    // Signals are for the process, not for this thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread{[this] { loop_.run(); }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~thread() override {
    relay_->close();
    loop_.post([this] {
      network_.reset();
      loop_.stop();
    });
    thread_.join();
  }

  void run(std::function<void(network&)> f) {
    loop_.post([this, f = std::move(f)] { f(*network_); });
  }

private:
  // -- on the thread of the network ------------------------------------------

  void on_listening(const std::string& name,
                    std::vector<node_address> addresses) override {
    relay_->put([name, addresses = std::move(addresses)](network_owner& x) {
      x.on_listening(name, addresses);
    });
  }

  void on_lane(dial_id dial, lane_opened lane) override {
    relay_->put([dial, lane = std::move(lane)](network_owner& x) {
      x.on_lane(dial, lane);
    });
  }

  void on_dial_failed(dial_id dial, caf::error why) override {
    relay_->put([dial, why = std::move(why)](network_owner& x) {
      x.on_dial_failed(dial, why);
    });
  }

  void on_frame(lane_id lane, lane_frame frame) override {
    const auto cost = memory_of(frame);
    const auto waiting = relay_->put(
      [lane, frame = std::move(frame)](network_owner& x) mutable {
        x.on_frame(lane, std::move(frame));
      },
      cost);
    if (waiting < waiting_max || is_held_.exchange(true))
      return;
    network_->hold(true);
    // All of it may have been given out before it was held: then nobody would
    // come by any more.
    relay_->put([](network_owner&) {});
  }

  void on_lane_end(lane_id lane, const std::string& reason) override {
    relay_->put(
      [lane, reason](network_owner& x) { x.on_lane_end(lane, reason); });
  }

  // -- on the owner's loop ---------------------------------------------------

  void go_on() {
    if (is_held_.exchange(false))
      run([](network& x) { x.hold(false); });
  }

  std::shared_ptr<relay> relay_;
  std::atomic<bool> is_held_{false};
  event_loop loop_;
  std::unique_ptr<network> network_;
  std::thread thread_;
};

network_runner::network_runner(event_loop& main,
                               std::shared_ptr<const secure_context> context,
                               network_settings settings, network_owner& owner,
                               bool own_thread) {
  if (own_thread)
    elsewhere_ = std::make_unique<thread>(main, std::move(context),
                                          std::move(settings), owner);
  else
    here_ = std::make_unique<network>(main, std::move(context),
                                      std::move(settings), owner);
}

network_runner::~network_runner() = default;

void network_runner::run(std::function<void(network&)> f) {
  if (here_)
    f(*here_);
  else
    elsewhere_->run(std::move(f));
}

} // namespace troupe
