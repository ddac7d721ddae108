#pragma once
// How what stands above the tape looks at each backward pass.

#include <span>

namespace gradus {

class Node;

/// Called at the end of a pass, on its thread, with the nodes it went through, newest first.
using AfterPass = void (*)(std::span<Node* const> nodes);

/// From now on passes of all threads call `look`, or nothing when it is null; returns what they called
/// before.
AfterPass set_after_pass(AfterPass look);

}  // namespace gradus
