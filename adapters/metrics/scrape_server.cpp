#include "adapters/metrics/scrape_server.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/stream_socket.hpp"
#include "adapters/sockets/transport.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// What may wait to be sent: an answer and its head.
constexpr size_t most_queued = size_t{16} << 20;

/// Bytes to read in one pass of the loop: a request is a few hundred.
constexpr size_t turn_bytes = 4096;

std::string_view phrase_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

} // namespace

scrape_reply scrape_text(unsigned status, std::string_view text) {
  auto result = scrape_reply{};
  result.status = status;
  result.body = std::string{text} + "\n";
  return result;
}

std::string encode(const scrape_reply& x, bool has_body) {
  auto result = "HTTP/1.1 " + std::to_string(x.status) + " ";
  result += phrase_of(x.status);
  result += "\r\nContent-Type: " + x.type
            + "\r\nContent-Length: " + std::to_string(x.body.size());
  if (x.status == 405)
    result += "\r\nAllow: GET, HEAD";
  // What is not to be guessed, kept or shown within a page of others.
  result += "\r\nX-Content-Type-Options: nosniff"
            "\r\nContent-Security-Policy: default-src 'none'"
            "\r\nCache-Control: no-store"
            "\r\nConnection: close\r\n\r\n";
  if (has_body)
    result += x.body;
  return result;
}

struct scrape_server::connection {
  std::unique_ptr<stream_socket> socket;
  std::unique_ptr<timer> limit;

  /// What has come of the request.
  std::string head;

  /// Whether the request is complete, and whether it has been answered.
  bool is_asked = false;
  bool is_answered = false;
};

scrape_server::scrape_server(event_loop& loop, std::vector<unique_fd> doors,
                             const bounds& limits, handler answer)
  : loop_(loop), bounds_(limits), answer_(std::move(answer)),
    burial_(loop, [this] { dead_.clear(); }),
    acceptor_(loop,
              acceptor::bounds{limits.descriptors_in_reserve,
                               acceptor::bounds{}.retry, 1},
              acceptor::callbacks{
                [this](unique_fd socket, size_t) { open(std::move(socket)); },
                [] {
                  // Who connects waits in the kernel.
                }}),
    alive_(std::make_shared<scrape_server*>(this)) {
  for (auto& x : doors)
    acceptor_.add(std::move(x));
}

scrape_server::~scrape_server() {
  *alive_ = nullptr;
  acceptor_.close();
  for (auto& [id, x] : connections_)
    x->socket->close();
}

/// Ends a connection for another one: the oldest of those that have not asked
/// yet, or of all.
void scrape_server::make_room() {
  const auto silent =
    std::find_if(connections_.begin(), connections_.end(),
                 [](const auto& x) { return !x.second->is_asked; });
  drop((silent != connections_.end() ? silent : connections_.begin())->first);
}

void scrape_server::open(unique_fd socket) {
  while (!connections_.empty() && connections_.size() >= bounds_.connections)
    make_room();
  const auto id = ++last_id_;
  auto& x =
    *connections_.emplace(id, std::make_unique<connection>()).first->second;
  auto limits = stream_socket::bounds{};
  limits.turn_bytes = turn_bytes;
  limits.queued_max = most_queued;
  auto handlers = stream_socket::callbacks{};
  handlers.on_bytes = [this, id](std::string_view bytes) { take(id, bytes); };
  handlers.on_end = [this, id](const caf::error&) { bury(id); };
  x.socket = std::make_unique<stream_socket>(
    loop_, std::make_unique<transport>(std::move(socket)), limits,
    std::move(handlers));
  x.limit = std::make_unique<timer>(loop_, [this, id] { drop(id); });
  x.limit->start(bounds_.patience);
  x.socket->resume();
}

void scrape_server::take(uint64_t id, std::string_view bytes) {
  const auto i = connections_.find(id);
  if (i == connections_.end() || i->second->is_asked)
    return; // What follows a request is nothing to us.
  auto& x = *i->second;
  const auto before = x.head.size();
  x.head += bytes;
  const auto end = end_of_head(x.head, before);
  if (!end && x.head.size() <= bounds_.head_bytes)
    return;
  x.is_asked = true;
  x.socket->pause();
  if (!end || *end > bounds_.head_bytes) {
    reply(id, scrape_text(431, "the request is too long"), true);
    return;
  }
  x.head.resize(*end);
  const auto request = parse_scrape_request(x.head);
  if (!request) {
    reply(id, scrape_text(400, "this is no request that is understood here"),
          true);
    return;
  }
  const auto has_body = request->method != "HEAD";
  if (has_body && request->method != "GET") {
    reply(id, scrape_text(405, "this can only be read"), true);
    return;
  }
  answer_(*request, [alive = alive_, id, has_body](const scrape_reply& what) {
    if (*alive != nullptr)
      (*alive)->reply(id, what, has_body);
  });
}

void scrape_server::reply(uint64_t id, const scrape_reply& what,
                          bool has_body) {
  const auto i = connections_.find(id);
  if (i == connections_.end() || std::exchange(i->second->is_answered, true))
    return;
  auto& socket = *i->second->socket;
  socket.send(encode(what, has_body));
  socket.close_when_sent(bounds_.patience);
}

/// Ends a connection that has had its time, or has to make room.
void scrape_server::drop(uint64_t id) {
  const auto i = connections_.find(id);
  if (i == connections_.end())
    return;
  i->second->socket->close();
  bury(id);
}

void scrape_server::bury(uint64_t id) {
  auto node = connections_.extract(id);
  if (node.empty())
    return;
  node.mapped()->limit->cancel();
  dead_.push_back(std::move(node.mapped()));
  burial_.start(std::chrono::nanoseconds::zero());
}

} // namespace troupe
