#include "gradus/core/dtype.h"

#include <ostream>

#include "gradus/core/detail/format.h"

namespace gradus {

const char* name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i64:
      return "i64";
    case DType::boolean:
      return "bool";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

namespace {
thread_local DType current_default = DType::f32;
}

DType default_dtype() { return current_default; }

void set_default_dtype(DType dtype) {
  check(is_floating(dtype), "set_default_dtype: expects f32 or f64, got {}", dtype);
  current_default = dtype;
}

}  // namespace gradus
