#pragma once

#include "gradus/core/memory/storage.h"

namespace gradus::test {

/// Poisoned memory for one scope, or none.
struct PoisonGuard {
  explicit PoisonGuard(bool on) { set_memory_poison(on); }
  ~PoisonGuard() { set_memory_poison(before); }
  bool before = memory_poison();
};

}  // namespace gradus::test
