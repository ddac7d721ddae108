#include "gradus/core/tape/scope.h"

#include <mutex>
#include <unordered_set>

#include "gradus/core/detail/place.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {

namespace {
// Never destroyed: tensors in globals may name a path after main has ended. Guarded by locks::names.
std::unordered_set<std::string>* names = nullptr;
}  // namespace

const char* current_scope() { return detail::place; }

const char* intern(const std::string& text) {
  const std::lock_guard lock(locks::names);
  if (!names) names = new std::unordered_set<std::string>;
  return names->insert(text).first->c_str();
}

Scope::Scope(const char* path) : before_(detail::place) {
  // What comes before a model is not its first op's time.
  if (detail::watcher && *before_ == '\0') [[unlikely]]
    detail::watcher->end_lap();  // which may throw: then no destructor sets the path back
  detail::place = path;
}
Scope::~Scope() { detail::place = before_; }

}  // namespace gradus
