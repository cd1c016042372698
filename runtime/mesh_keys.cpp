#include "runtime/mesh_keys.hpp"

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"

#include <utility>

namespace troupe {

node_key::node_key(std::shared_ptr<const secret> x) : bytes_(std::move(x)) {
  // nop
}

std::string_view node_key::bytes() const {
  return bytes_->view();
}

key_issuer::key_issuer(std::shared_ptr<const authority> x)
  : authority_(std::move(x)) {
  // nop
}

caf::expected<key_issuer> key_issuer::make(std::string dvm) {
  auto made = authority::make(std::move(dvm));
  if (!made)
    return std::move(made.error());
  return key_issuer{std::make_shared<const authority>(std::move(*made))};
}

caf::expected<node_key> key_issuer::issue(uint32_t rank,
                                          const std::string& name,
                                          std::optional<uint32_t> user) const {
  const auto mine = authority_->issue(rank, name, {}, user);
  if (!mine)
    return mine.error();
  auto bytes = encode_credentials(*mine);
  if (!bytes)
    return std::move(bytes.error());
  return node_key{std::make_shared<const secret>(std::move(*bytes))};
}

caf::expected<std::shared_ptr<const secure_context>>
read_key(std::string_view bytes) {
  const auto mine = decode_credentials(bytes);
  if (!mine)
    return mine.error();
  return secure_context::make(*mine);
}

caf::expected<std::shared_ptr<const secure_context>> read_key(int fd) {
  const auto bytes = read_secret(fd);
  if (!bytes)
    return bytes.error();
  return read_key(bytes->view());
}

caf::expected<std::shared_ptr<const secure_context>>
without_key(const std::string& dvm, uint32_t rank, const std::string& name) {
  return secure_context::make_insecure({dvm, rank, name});
}

} // namespace troupe
