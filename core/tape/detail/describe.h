#pragma once
// The text printed by dump(): core/dump.h.

#include "gradus/core/tensor.h"

namespace gradus {

void print_description(const Tensor& x) noexcept;
void print_description(const Array& x) noexcept;
void print_description(const Shape& shape) noexcept;

}  // namespace gradus
