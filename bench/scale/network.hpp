#pragma once

#include "messages/mesh.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace troupe::scale {

/// What messages between nodes cost, in microseconds.
struct costs {
  /// The way to another node.
  double latency = 40;

  /// Each message, at the node that sends it and at the one that takes it.
  double message = 5;
  double byte = 0.00032;
};

/// What an operation has come to.
struct figures {
  double microseconds = 0;

  /// Of all nodes.
  size_t messages = 0;

  /// The most that a node has sent and taken, and the most bytes of one.
  size_t most_messages = 0;
  size_t most_bytes = 0;

  /// The most memory that all nodes, and what was on its way, have taken beside
  /// what there was before.
  size_t memory = 0;
};

/// Many nodes in one process, in virtual time. A node does one thing after the
/// other: sends a message, or takes one.
class network {
public:
  using action = std::function<void()>;

  network(uint32_t size, const costs& what);

  /// Asks another node, which answers by a message, too.
  /// @param carry_out What is done there, with what answers.
  /// @param then What is done here with the answer.
  void ask(uint32_t from, uint32_t to, host_question what,
           std::function<void(host_question&, std::function<void(host_reply)>)>
             carry_out,
           std::function<void(host_reply)> then);

  /// Sends something of so many bytes.
  void send(uint32_t from, uint32_t to, size_t bytes, action arrive);

  /// Does something after so many microseconds.
  void after(double delay, action what);

  /// Lets everything happen that is due, and what follows from it.
  void run();

  /// Begins to count anew.
  void start();

  /// An operation is over, at this time; it is enough to say so once more
  /// later.
  void note_end() {
    end_ = now_;
  }

  /// What there has been since the start, up to the end.
  figures count() const;

private:
  struct event {
    double at = 0;
    uint64_t order = 0;
    action what;
  };

  struct later {
    bool operator()(const event& x, const event& y) const {
      return x.at != y.at ? x.at > y.at : x.order > y.order;
    }
  };

  /// Has a node do something for a message, once it may.
  double occupy(uint32_t node, size_t bytes);
  void push(double at, action what);

  costs costs_;
  std::vector<double> busy_;
  std::vector<size_t> messages_;
  std::vector<size_t> bytes_;
  std::priority_queue<event, std::vector<event>, later> events_;
  double now_ = 0;
  double begin_ = 0;
  double end_ = 0;
  size_t memory_ = 0;
  uint64_t next_ = 0;
};

/// The bytes of a question and of an answer between two nodes, with what goes
/// around them.
size_t size_of(const host_question& what);
size_t size_of(const host_reply& what);

/// Bytes on the heap of this program, and the most since `mark_memory`.
size_t memory_now();
size_t memory_peak();
void mark_memory();

} // namespace troupe::scale
