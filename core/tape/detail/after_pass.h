#pragma once
// Lets layers above the tape observe each backward pass.

#include <span>

namespace gradus {

class Node;

/// Called at the end of a pass, on its thread, with the nodes it went through, newest first.
using AfterPass = void (*)(std::span<Node* const> nodes);

/// From now on passes of all threads call `look`, or nothing if it is null; returns the previous callback.
AfterPass set_after_pass(AfterPass look);

}  // namespace gradus
