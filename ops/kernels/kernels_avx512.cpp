#include "gradus/ops/kernels/vec_avx512.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& avx512_table<float>() {
  return table_f32;
}

template <>
const Table<double>& avx512_table<double>() {
  return table_f64;
}

}  // namespace gradus::kernels
