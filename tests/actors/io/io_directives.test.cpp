// Directives that a caller cannot do without.

#include "actors/io/io_options.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

info required(std::string_view key) {
  auto result = with(key);
  result.flags = info_required;
  return result;
}

/// Whether a call refuses a directive that is required.
bool refuses(io_call call, std::string_view key) {
  const auto why =
    check_required(call, {with(attr::iof_tag_output), required(key)});
  if (!why)
    return false;
  CAF_CHECK(status_of(why) == status::not_supported);
  const auto* known = attribute_of(key);
  const auto name = std::string{known != nullptr ? known->c_name : key};
  CAF_CHECK(reason_of(why).find(name) != std::string::npos);
  return true;
}

} // namespace

CAF_TEST(I6 what is not required is no reason to refuse) {
  for (const auto call : {io_call::pull, io_call::push, io_call::spawn})
    CAF_CHECK(!check_required(
      call, {with(attr::iof_redirect), with("somebody.elses")}));
}

CAF_TEST(I6 a pull knows all that it acts upon and refuses the rest) {
  for (const auto key :
       {attr::iof_cache_size, attr::iof_drop_oldest, attr::iof_drop_newest,
        attr::iof_buffering_size, attr::iof_buffering_time,
        attr::iof_tag_output, attr::iof_timestamp_output, attr::iof_xml_output,
        attr::iof_rank_output, attr::iof_output_raw, attr::iof_copy,
        io_offset_key, io_start_key, io_offsets_key})
    CAF_CHECK(!refuses(io_call::pull, key));
  for (const auto key : {attr::iof_redirect, attr::iof_output_to_file,
                         attr::iof_output_to_directory, attr::iof_file_only,
                         attr::iof_merge_stderr_stdout, attr::iof_local_output,
                         std::string_view{"somebody.elses"}})
    CAF_CHECK(refuses(io_call::pull, key));
}

CAF_TEST(I6 I9 a push knows all that it acts upon and refuses the rest) {
  for (const auto key : {attr::iof_cache_size, attr::iof_drop_oldest,
                         attr::iof_drop_newest, attr::iof_push_stdin,
                         attr::iof_complete, attr::iof_stop, io_offset_key})
    CAF_CHECK(!refuses(io_call::push, key));
  CAF_CHECK(refuses(io_call::push, attr::iof_buffering_size));
  CAF_CHECK(refuses(io_call::push, attr::iof_tag_output));
}

CAF_TEST(I15 I16 of a spawn only what is about output is looked at) {
  for (const auto key :
       {attr::mapby, attr::fwd_stdout, attr::iof_output_to_file,
        attr::iof_file_pattern, attr::iof_file_only, attr::iof_inherit,
        attr::iof_merge_stderr_stdout, attr::iof_cache_size})
    CAF_CHECK(!refuses(io_call::spawn, key));
  CAF_CHECK(refuses(io_call::spawn, attr::iof_redirect));
  CAF_CHECK(refuses(io_call::spawn, attr::iof_local_output));
}
