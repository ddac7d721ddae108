#pragma once
// Pictures of single chapters of the course: course_06() is drawn in course_06.cpp. Drawings of things are
// text already.

#include <filesystem>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::docs {

kit::LineChart course_01();
kit::LineChart course_06();
kit::LineChart course_07();
kit::LineChart course_08();
kit::LineChart course_09();
kit::LineChart course_10();
std::string course_12();
std::string course_14();
kit::LineChart course_16();
std::string course_17();
/// From what docs/draw/tiny_gpt_losses.cpp has written.
kit::LineChart course_18(const std::filesystem::path& losses);
/// From what the pages in this folder quote.
kit::LineChart course_23(const std::filesystem::path& folder);
kit::BarChart course_28(const std::filesystem::path& folder);
kit::LineChart course_29();

}  // namespace gradus::docs
