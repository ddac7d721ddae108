#pragma once
#include "gradus/core/random/random.h"

namespace gradus::distributed::detail {

/// Moves this thread's generator for one scope.
class GeneratorGuard {
 public:
  GeneratorGuard() : before_(default_generator().state()) {}
  ~GeneratorGuard() { default_generator().set_state(before_); }
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  Generator::State before_;
};

}  // namespace gradus::distributed::detail
