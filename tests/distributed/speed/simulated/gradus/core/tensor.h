#pragma once
// In place of gradus's Tensor when the communication runs on simulated ranks: all that Layout asks of one.

#include <cstdint>

#include "gradus/core/array/array.h"

namespace gradus {

class Tensor {
 public:
  explicit Tensor(std::int64_t numel, DType dtype = f32) : numel_(numel), dtype_(dtype) {}
  std::int64_t numel() const { return numel_; }
  DType dtype() const { return dtype_; }

 private:
  std::int64_t numel_;
  DType dtype_;
};

}  // namespace gradus
