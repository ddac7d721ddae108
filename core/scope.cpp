#include "gradus/core/scope.h"

#include <mutex>
#include <unordered_set>

#include "gradus/core/profile.h"

namespace gradus {

namespace {
thread_local const char* running = "";
}

const char* current_scope() { return running; }

const char* intern(const std::string& text) {
  // Never destroyed: tensors in globals may name a path after main has ended.
  static auto& strings = *new std::unordered_set<std::string>;
  static auto& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  return strings.insert(text).first->c_str();
}

Scope::Scope(const char* path) : before_(running) {
  running = path;
  // What comes before a model is not its first op's time.
  if (detail::recorder && *before_ == '\0') [[unlikely]]
    detail::end_lap();
}
Scope::~Scope() { running = before_; }

}  // namespace gradus
