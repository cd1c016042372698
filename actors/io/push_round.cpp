#include "actors/io/push_round.hpp"

#include "messages/attributes.hpp"

#include <utility>

namespace troupe {

push_round::push_round(const io_push_request& request, completion done)
  : done_(std::move(done)),
    is_end_(flag(request.directives, attr::iof_push_stdin)
            && (!request.bytes || request.bytes->empty())) {
  // nop
}

void push_round::take(const caf::expected<io_input_taken>& x) {
  if (x)
    readers_ += x->readers;
  else if (status_of(x.error()) != status::not_found)
    why_ = x.error();
  finish_one();
}

void push_round::finish_one() {
  if (--left_ > 0)
    return;
  if (why_)
    done_(why_);
  // OpenPMIx's tools forward their end of input again and again until they
  // are told that it is complete; and what nobody reads is complete, too.
  else if (readers_ == 0)
    done_(make_error(status::iof_complete, "nobody reads the input"));
  else if (is_end_)
    done_(make_error(status::iof_complete, "the input has ended"));
  else
    done_({});
}

} // namespace troupe
