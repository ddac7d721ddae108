#pragma once
// MPI, of which only mpi.cpp knows more. Without MPI no_mpi.cpp is built instead.

#include <memory>

#include "gradus/distributed/detail/transport.h"

namespace gradus::distributed::detail {

/// Whether gradus was built with MPI.
extern const bool kHasMpi;

/// Starts MPI and returns the ranks of the job. Throws when MPI refuses.
std::unique_ptr<Transport> start_mpi();
/// Ends MPI in this process, after every rank has said that it ends.
void finish_mpi() noexcept;
/// Ends all ranks of the job, within a second or so.
[[noreturn]] void abort_mpi(int status) noexcept;

/// The transport's messages are cut into pieces of so many bytes, since MPI counts in int. For tests.
void set_mpi_piece(std::size_t bytes);

}  // namespace gradus::distributed::detail
