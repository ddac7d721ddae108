#pragma once
// Which module is running: a thread-local path such as "layers.3.self_attn", named by errors, explain() and
// detect_anomaly.

#include <string>

#include "gradus/core/cxx20.h"

namespace gradus {

/// The path of the module running on this thread; "" outside any.
const char* current_scope();

/// One copy of each distinct string, valid until the program ends: paths can be kept as plain pointers.
const char* intern(const std::string& text);

/// Names the running module for one scope. `path` must come from intern().
class Scope {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit Scope(const char* path);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const char* before_;
};

}  // namespace gradus
