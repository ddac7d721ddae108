#include <cstdlib>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/mpi.h"

namespace gradus::distributed::detail {

const bool kHasMpi = false;

std::unique_ptr<Transport> start_mpi() { fail_with("Session: gradus was built without MPI"); }
void finish_mpi() noexcept {}
void abort_mpi(int status) noexcept { std::_Exit(status); }
void set_mpi_piece(std::size_t) {}

}  // namespace gradus::distributed::detail
