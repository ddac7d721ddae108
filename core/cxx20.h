#pragma once
// Ends the compilation where it is not for C++20. Every public header includes this one, itself or through
// others.

#if __cplusplus <= 201703L
#error "gradus needs C++20: compile with -std=c++20"
// Compilers go on after #error, with thousands of lines; a file that is missing ends them.
#include <compilation ends here: gradus needs C++20>
#endif
