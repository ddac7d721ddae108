#include "gradus/ops/kernels/vec_avx512.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& avx512_table<float>() {
  return full_table<float>;
}

template <>
const Table<double>& avx512_table<double>() {
  return full_table<double>;
}

}  // namespace gradus::kernels
