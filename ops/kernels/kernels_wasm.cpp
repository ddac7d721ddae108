#include "gradus/ops/kernels/vec_wasm.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& simd128_table<float>() {
  return full_table<float>;
}

template <>
const Table<double>& simd128_table<double>() {
  return full_table<double>;
}

}  // namespace gradus::kernels
