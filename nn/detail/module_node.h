#pragma once
// ModuleNode: the state shared by all handles of a module.

#include <memory>
#include <string>
#include <vector>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

struct ModuleNode {
  struct Buffer {
    std::string name;
    Tensor values;
    bool persistent;
  };
  struct Part {
    std::string name;  // "" makes it transparent: its keys are at this level
    std::shared_ptr<ModuleNode> node;
  };

  std::string kind;
  bool kind_of_type = false;  // the module did not name its kind: it is the name of its C++ type
  const char* path = "";
  bool training = true;
  std::vector<StateDict::Entry> parameters;
  std::vector<Buffer> buffers;
  std::vector<Part> parts;
  std::vector<std::shared_ptr<const ForwardHook::Function>> hooks;  // of on_forward
};

/// "layers.3" and "norm1" give "layers.3.norm1"; an empty half adds no dot.
inline std::string join(const std::string& path, const std::string& name) {
  return path.empty() || name.empty() ? path + name : path + "." + name;
}

/// Calls f(node, name) for the node and then for all below it, in order of registration.
template <class F>
void walk(ModuleNode& node, const std::string& name, const F& f) {
  f(node, name);
  for (const auto& part : node.parts) walk(*part.node, join(name, part.name), f);
}

}  // namespace gradus::nn
