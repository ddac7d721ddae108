// Always compiled with debug information so that debuggers can call these functions; nothing else belongs
// here.

#include "gradus/core/dump.h"

#include "gradus/core/tape/detail/describe.h"

namespace gradus {

void dump(const Tensor& x) noexcept { print_description(x); }
void dump(const Array& x) noexcept { print_description(x); }
void dump(const Shape& shape) noexcept { print_description(shape); }

}  // namespace gradus
