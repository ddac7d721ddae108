#pragma once
// The range in which a figure may lie.

struct Interval {
  double low = 0, high = 0;
};
