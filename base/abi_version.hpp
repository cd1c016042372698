#pragma once

namespace troupe {

/// The version of the Standard's interface that we claim to keep, stable and
/// provisional: none, as OpenPMIx. Libraries and servers say the same.
/// Source: PMIx Standard v5, PMIX_QUERY_STABLE_ABI_VERSION.
inline constexpr auto abi_version = "0.0";

} // namespace troupe
