#include "gradus/distributed/detail/digests.h"

#include "gradus/core/check.h"
#include "gradus/core/io/crc32.h"

namespace gradus::distributed::detail {

std::string digest(const std::string& name, const Tensor& tensor) {
  const Array dense = tensor.array().contiguous();
  const std::size_t bytes = static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype());
  return name + " " + to_string(dense.shape()) + " " + gradus::name(dense.dtype()) + " " +
         std::to_string(io::crc32(dense.raw(), bytes)) +
         (tensor.node() && !tensor.requires_grad() ? " frozen" : "");
}

}  // namespace gradus::distributed::detail
