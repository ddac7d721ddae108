#include "gradus/ops/kernels/vec_scalar.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& scalar_table<float>() {
  return table_f32;
}

template <>
const Table<double>& scalar_table<double>() {
  return table_f64;
}

}  // namespace gradus::kernels
