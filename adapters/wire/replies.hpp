#pragma once

#include "adapters/wire/dialect.hpp"
#include "adapters/wire/requests.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Replies, both ways. The writers append a payload to `out` and leave `out` as
// it was on an error. Entries and infos whose type the peer cannot read are
// left out, so an old client gets what it understands. Counts are always
// written, 0 included: some clients wait for ever without. Source: OpenPMIx
// wire protocol, requests and replies.

namespace troupe::wire {

/// What a reply holds beside its status; `ack` for nothing.
using reply_body =
  std::variant<ack, job_info, get_result, lookup_result, spawn_result,
               connect_procs_result, info_result, get_credential_result,
               io_pull_result, group_construct_result, device_distances_result,
               refresh_cache_result, resolve_peers_result,
               resolve_nodes_result>;

/// A reply as the client reads it. A body may be missing (`ack`) although the
/// command has one: servers leave it out after a failure, and some after a
/// success.
struct reply {
  status outcome = status::success;
  reply_body body;
};

// -- writing -----------------------------------------------------------------

/// A status and nothing else: the answer of commands without a body, and of
/// every command that failed. Job info has no status: there an error can only
/// be shown by closing.
void encode_status(status x, const dialect& d, std::string& out);

/// The answer of JOB_CONTROL and MONITOR if they are refused: a status, and
/// infos that tell why. Clients before 5 read no further than the status.
/// Source: RFC0015, Job Control: the callback's infos.
caf::error encode_denial(status x, const std::vector<info>& reasons,
                         const dialect& d, std::string& out);

/// Success without a body.
void encode_reply(const ack& x, const dialect& d, std::string& out);

caf::error encode_reply(const job_info& x, const dialect& d, std::string& out);
caf::error encode_reply(const get_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const lookup_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const spawn_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const connect_procs_result& x, const dialect& d,
                        std::string& out);

/// QUERY, ALLOC, JOB_CONTROL, MONITOR, VALIDATE_CRED, FABRIC_REGISTER,
/// FABRIC_UPDATE, SESSION_CTRL.
caf::error encode_reply(const info_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const get_credential_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const io_pull_result& x, const dialect& d,
                        std::string& out);

/// In the layout of the peer's release.
caf::error encode_reply(const group_construct_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const device_distances_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const refresh_cache_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const resolve_peers_result& x, const dialect& d,
                        std::string& out);
caf::error encode_reply(const resolve_nodes_result& x, const dialect& d,
                        std::string& out);

/// Any reply with any status; a body of type `ack` adds nothing.
caf::error encode_reply(const reply& x, const dialect& d, std::string& out);

// -- reading -----------------------------------------------------------------

/// Reads the reply to a request.
/// @param asked The command of the request.
/// @returns the reply, with the server's status in it; or an error if the
///          payload does not decode.
caf::expected<reply> decode_reply(command asked, std::string_view payload,
                                  const dialect& d);

/// The packed data of one rank in a payload.
struct packed_rank {
  uint32_t rank = rank_undef;
  std::string_view bytes;
};

/// Reads the answer to a job info request but for the data of ranks, which are
/// only checked, if they are texts, bytes, numbers and truths alone.
/// @param may_wait Whether the value of a key may be left packed as well.
/// @param ranks Gets those that are, for `decode_rank_data`, which reads them; none
///              if any is something else: then all are in the result.
caf::expected<job_info> decode_job_info(std::string_view payload,
                                        const dialect& d,
                                        bool (*may_wait)(std::string_view key),
                                        std::vector<packed_rank>& ranks);

/// Reads the packed data of one rank, the value of a `pmix.pblob` entry that
/// came in a get or spawn reply. Job info replies are decoded already.
caf::expected<rank_data> decode_rank_data(std::string_view bytes,
                                          const dialect& d);

} // namespace troupe::wire
