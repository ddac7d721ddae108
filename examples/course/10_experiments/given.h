#pragma once
// From where to where a figure may lie.

struct Interval {
  double low = 0, high = 0;
};
