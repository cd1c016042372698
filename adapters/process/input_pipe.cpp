#include "adapters/process/input_pipe.hpp"

#include "messages/actors.hpp"
#include "messages/status.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace troupe {

input_pipe::input_pipe(event_loop& loop, unique_fd fd, size_t window,
                       end_maker make_end)
  : fd_(std::move(fd)), window_(window), make_end_(std::move(make_end)) {
  watch_.emplace(loop, fd_.get(), fd_watch::callback{},
                 [this] { write_waiting(); });
}

input_pipe::~input_pipe() {
  fail();
}

bool input_pipe::write(std::string bytes, done_callback done) {
  if (!fd_ || is_closing_) {
    done(false);
    return true;
  }
  if (!waiting_.empty() && waiting_bytes_ + bytes.size() > window_)
    return false;
  add(std::move(bytes), std::move(done));
  return true;
}

void input_pipe::add(std::string bytes, done_callback done) {
  if (!bytes.empty())
    last_ = bytes.back();
  waiting_bytes_ += bytes.size();
  waiting_.push_back({std::move(bytes), 0, std::move(done)});
  if (waiting_.size() == 1)
    write_waiting();
}

void input_pipe::write_waiting() {
  while (!waiting_.empty()) {
    auto& x = waiting_.front();
    if (x.written < x.bytes.size()) {
      const auto n = ::write(fd_.get(), x.bytes.data() + x.written,
                             x.bytes.size() - x.written);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN) {
        watch_->enable_write();
        return;
      }
      if (n < 0) {
        fail();
        return;
      }
      x.written += static_cast<size_t>(n);
      continue;
    }
    const auto done = std::move(x.done);
    waiting_bytes_ -= x.bytes.size();
    waiting_.pop_front();
    done(true);
  }
  watch_->disable_write();
  if (is_closing_)
    fail();
}

void input_pipe::close() {
  if (is_closing_)
    return;
  is_closing_ = true;
  if (auto end = fd_ && make_end_ ? make_end_(last_) : std::string{};
      !end.empty()) {
    add(std::move(end), [](bool) {});
    return;
  }
  if (fd_ && waiting_.empty())
    fail();
}

void input_pipe::fail() {
  watch_.reset();
  fd_.reset();
  waiting_bytes_ = 0;
  for (auto& x : std::exchange(waiting_, {}))
    x.done(false);
}

// -- requests ----------------------------------------------------------------

void write_input(input_pipe* pipe, write_stdin&& request,
                 caf::typed_response_promise<ack> reply) {
  const auto refuse = [proc = request.proc](auto& answer) {
    answer.deliver(make_error(
      status::lost_connection,
      to_string(proc)
        + " does not read its standard input; leave out what is sent to it"));
  };
  if (pipe == nullptr) {
    refuse(reply);
    return;
  }
  auto answer = reply;
  const auto accepted = pipe->write(std::move(request.bytes),
                                    [answer, refuse](bool written) mutable {
                                      if (written)
                                        answer.deliver(ack{});
                                      else
                                        refuse(answer);
                                    });
  if (!accepted)
    reply.deliver(
      make_error(status::resource_busy, "too much input waits for "
                                          + to_string(request.proc)
                                          + "; wait for the answers"));
}

} // namespace troupe
