#include "gradus/ops/kernels/vec_avx2.h"

#include "gradus/ops/kernels/body.h"

namespace gradus::kernels {

template <>
const Table<float>& avx2_table<float>() {
  return full_table<float>;
}

template <>
const Table<double>& avx2_table<double>() {
  return full_table<double>;
}

}  // namespace gradus::kernels
