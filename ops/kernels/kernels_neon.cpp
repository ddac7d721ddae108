#include "gradus/ops/kernels/vec_neon.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& neon_table<float>() {
  return full_table<float>;
}

template <>
const Table<double>& neon_table<double>() {
  return full_table<double>;
}

}  // namespace gradus::kernels
