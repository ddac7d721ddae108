#pragma once
// The ranges of the lab's settings, on the command line and in study.json.

#include "gradus/kit/program/command_line.h"

namespace gradus::lab {

constexpr kit::IntegerRange kDepths = {1, 1000};
constexpr kit::IntegerRange kWarmups = {0, 1'000'000'000};
constexpr kit::IntegerRange kSteps = {1, 1'000'000'000};
constexpr kit::IntegerRange kSeeds = {1, 1000};
constexpr kit::IntegerRange kThreads = {1, 1024};
constexpr kit::IntegerRange kSeed = kit::at_least(0);
// Settings without an option: any lab has the same, but its files must not ask for more than memory holds.
constexpr kit::IntegerRange kWidth = {1, 256};
constexpr kit::IntegerRange kWindow = {1, 1024};

}  // namespace gradus::lab
