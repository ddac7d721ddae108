#pragma once
// Memory for the chunks of a parallel loop.

#include <vector>

#include "gradus/core/array/array.h"
#include "gradus/core/threads/parallel.h"

namespace gradus {

/// Memory that each chunk takes and gives back, `n` elements each time. The constructor takes as many blocks
/// as there are threads once and frees them, so the cache has enough from then on. Otherwise another block
/// would come from the system, with page faults, whenever more chunks than ever before run at once.
class Scratch {
 public:
  Scratch(std::int64_t n, DType dtype) : shape_{n}, dtype_(dtype) {
    std::vector<Array> blocks(static_cast<std::size_t>(num_threads()));
    for (Array& block : blocks) block = take();
  }
  Array take() const { return Array::empty(shape_, dtype_); }

 private:
  Shape shape_;
  DType dtype_;
};

}  // namespace gradus
