#pragma once
// The pieces of a page: text with its markup, and tables.

#include <string>
#include <string_view>

#include "gradus/kit/report/table.h"

namespace gradus::kit {

/// Escaped text with `code`, **strong** and [words](https://...) turned into HTML. What does not close stays
/// as it is; only http, https and # addresses become links.
std::string html_text(std::string_view text);

/// A <table>; the caption is left out when `with_caption` is false.
std::string html_table(const Table& table, bool with_caption = true);

/// The style sheet of a report, without that of its charts.
std::string report_style();

}  // namespace gradus::kit
