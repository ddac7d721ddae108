#include "gradus/ops/kernels/vec_scalar.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& scalar_table<float>() {
  return full_table<float>;
}

template <>
const Table<double>& scalar_table<double>() {
  return full_table<double>;
}

}  // namespace gradus::kernels
