#pragma once
// Charts of single chapters of the course: course_06() is drawn in course_06.cpp.

#include "gradus/kit/chart/chart.h"

namespace gradus::docs {

kit::LineChart course_06();
kit::LineChart course_08();
kit::LineChart course_09();

}  // namespace gradus::docs
