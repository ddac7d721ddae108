#pragma once
// Handles running out of memory in operator new.

namespace gradus {

/// Makes a failing operator new, anywhere in the program, first give back what is cached and try again, and
/// throw an Error when nothing is; a handler the program has set before is called instead of that. The first
/// call does it, later ones do nothing: a handler set after that replaces ours.
void handle_failing_new();

/// empty_cache(), which returns whether there was anything to free.
bool give_back_cached();

}  // namespace gradus
