#pragma once

#include "gradus/distributed/communicator.h"

namespace gradus::test {

/// Makes every call of a communicator and throws unless all results are right: for ranks as threads and of
/// MPI.
void check_calls(const distributed::Communicator& world);

}  // namespace gradus::test
