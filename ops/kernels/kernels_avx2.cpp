#include "gradus/ops/kernels/vec_avx2.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& avx2_table<float>() {
  return table_f32;
}

template <>
const Table<double>& avx2_table<double>() {
  return table_f64;
}

}  // namespace gradus::kernels
