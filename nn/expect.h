#pragma once
// What layers check about their input before computing (internal).

#include <cstdint>

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// x [..., size] of the dtype, else "Linear: expects x [..., 64], got [8, 65]"; `what` names the argument.
void expect_last_axis(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype);
/// x [B, T, size] of the dtype, else "PreLNBlock: expects x [B, T, 64], got [8, 64]".
void expect_sequence(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype);
/// "Linear: expects in of 1 or more, got 0"
void expect_positive(const char* layer, const char* what, std::int64_t value);
/// "Dropout: expects p in [0, 1), got 1.5"
void expect_probability(const char* layer, const char* what, double p);

}  // namespace gradus::nn
