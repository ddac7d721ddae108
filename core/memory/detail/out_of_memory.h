#pragma once
// What happens when operator new finds no memory.

namespace gradus {

/// Makes a failing operator new, anywhere in the program, first give the allocator's cache back and try
/// again, and throw an Error when the cache is empty; a handler the program has set before is called instead
/// of that. The first call does it, later ones do nothing: a handler set after that replaces ours.
void handle_failing_new();

}  // namespace gradus
