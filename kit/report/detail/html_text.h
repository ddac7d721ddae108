#pragma once
// The parts of a page: text with markup, and tables.

#include <string>
#include <string_view>

#include "gradus/kit/report/table.h"

namespace gradus::kit {

/// Escapes text and converts `code`, **strong**, [words](https://...) and {blue:words} to HTML. Unclosed
/// markup is not changed; only http, https and # addresses and files in the page's folder become links.
std::string html_text(std::string_view text);

/// A <table>; without its caption when `with_caption` is false.
std::string html_table(const Table& table, bool with_caption = true);

/// The style sheet of a report, without that of its charts.
std::string report_style();

}  // namespace gradus::kit
