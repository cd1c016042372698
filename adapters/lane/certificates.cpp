#include "adapters/lane/certificates.hpp"

#include "adapters/lane/secure_context.hpp"
#include "messages/status.hpp"

namespace troupe {

// -- time --------------------------------------------------------------------

namespace {

/// Steady time counts what the machine sleeps: certificates age meanwhile.
certificate_clock::moment at_present() {
  timespec passed{};
  ::clock_gettime(CLOCK_BOOTTIME, &passed);
  return {std::time(nullptr), std::chrono::seconds{passed.tv_sec}};
}

bool is_within(const X509* x, time_t when) {
  return X509_cmp_time(X509_get0_notBefore(x), &when) < 0
         && X509_cmp_time(X509_get0_notAfter(x), &when) > 0;
}

} // namespace

const certificate_clock& certificate_clock::of_process() {
  static const certificate_clock result{at_present()};
  return result;
}

bool certificate_clock::accepts(const X509* x, moment now) const {
  const auto passed = (now.steady - start_.steady).count();
  return is_within(x, start_.wall + passed) || is_within(x, now.wall);
}

bool certificate_clock::accepts(const X509* x) const {
  return accepts(x, at_present());
}

// -- pinned certificates -----------------------------------------------------

caf::error pinned_certificates::add(uint32_t rank, std::string_view bytes) {
  const auto who = "node " + std::to_string(rank);
  if (bytes.size() > max_certificate_size)
    return make_error(status::bad_param, who + ": a certificate of "
                                           + std::to_string(bytes.size())
                                           + " bytes");
  const auto* first = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* next = first;
  auto x = openssl_ptr<X509>{
    d2i_X509(nullptr, &next, static_cast<long>(bytes.size()))};
  take_openssl_error();
  if (!x || next != first + bytes.size())
    return make_error(status::bad_param, who + ": not a certificate");
  const auto identity = identity_of(x.get());
  if (!identity || identity->rank != rank)
    return make_error(status::bad_param,
                      who + ": the certificate is not of that node");
  const auto [i, is_new] = known_.emplace(rank, nullptr);
  if (!is_new && X509_cmp(i->second.get(), x.get()) != 0)
    return make_error(status::exists, who + ": has another certificate");
  i->second = std::move(x);
  return {};
}

const X509* pinned_certificates::find(uint32_t rank) const {
  const auto i = known_.find(rank);
  return i != known_.end() ? i->second.get() : nullptr;
}

caf::expected<std::string> encode_certificate(const X509* x) {
  const auto size = i2d_X509(x, nullptr);
  if (size <= 0)
    return openssl_error("encode a certificate");
  auto result = std::string(static_cast<size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(result.data());
  i2d_X509(x, &out);
  return result;
}

} // namespace troupe
