#pragma once

namespace troupe {

/// tools/page.html, as it was when this was built.
extern const char page_text[];

} // namespace troupe
