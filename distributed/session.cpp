#include "gradus/distributed/session.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "gradus/core/check.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/version.h"
#include "gradus/distributed/detail/mpi.h"
#include "gradus/distributed/detail/traffic.h"
#include "gradus/ops/backend.h"

namespace gradus::distributed {

namespace {

constexpr int kUnknown = -1;

/// How many ranks were started, by what Open MPI, MPICH and Slurm tell each of them; 0: none of these did.
/// For others GRADUS_MPI=1 says that MPI knows.
int started_ranks() {
  if (std::getenv("GRADUS_MPI")) return kUnknown;
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const text = std::getenv(variable)) return std::atoi(text);
  if (std::getenv("PMIX_RANK"))
    if (const char* const text = std::getenv("SLURM_NTASKS")) return std::atoi(text);
  return std::getenv("PMIX_RANK") ? 1 : 0;
}

// What a program that ends unexpectedly must say; null unless several ranks run.
const std::string* running = nullptr;
std::terminate_handler terminate_before = nullptr;

[[noreturn]] void end_all(const char* message) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", running->c_str(), message);
  std::fflush(stderr);
  running = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // for mpirun to pass it on
  detail::abort_mpi(1);
}

[[noreturn]] void on_terminate() {
  if (running) {
    try {
      if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
      end_all("std::terminate was called");
    } catch (const std::exception& error) {
      end_all(error.what());
    } catch (...) {
      end_all("an exception of a type that is not a std::exception");
    }
  }
  if (terminate_before) terminate_before();
  std::abort();
}

void on_exit() {
  if (running) end_all("the program called exit() before Session::run returned");
}

/// "train: rank 2 of 4", until the object goes.
class Running {
 public:
  explicit Running(const std::string& who) : who_(who) {
    static const bool once = [] { return std::atexit(on_exit) == 0; }();
    static_cast<void>(once);
    running = &who_;
    terminate_before = std::set_terminate(on_terminate);
  }
  ~Running() {
    running = nullptr;
    std::set_terminate(terminate_before);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::string who_;
};

/// The length and the checksum of the program's file, where argv[0] is its path.
std::string file_digest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint32_t crc = 0;
  std::int64_t size = 0;
  std::array<char, 1 << 16> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    crc = io::crc32(part.data(), static_cast<std::size_t>(file.gcount()), crc);
    size += file.gcount();
  }
  return std::to_string(size) + " bytes, CRC-32 " + std::to_string(crc);
}

}  // namespace

Session::Session(int argc, char** argv) {
  program_ = argc > 0 ? argv[0] : "";
  for (int i = 1; i < argc; ++i) arguments_ += std::string(i > 1 ? "\n" : "") + argv[i];
  const int started = started_ranks();
  if (started == 0) return;
  if (!detail::kHasMpi && started != 1)
    fail_with(
        "Session: {} ranks were started, and this gradus was built without MPI: each would train alone. On "
        "Debian and Ubuntu: apt install libopenmpi-dev openmpi-bin, then configure and build gradus again",
        started == kUnknown ? "several" : std::to_string(started));
  if (!detail::kHasMpi) return;
  world_ = Communicator(std::make_shared<detail::Traffic>(detail::start_mpi()));
  of_mpi_ = true;
  check(started == kUnknown || world_.size() == started,
        "Session: {} ranks were started, and MPI counts {}: mpirun belongs to another MPI than the one "
        "gradus was built with",
        started, world_.size());
}

Session::~Session() {
  if (of_mpi_) detail::finish_mpi();
}

void Session::compare_ranks() const {
  world_.expect_same("The version of gradus", version());
  world_.expect_same("The program", file_digest(program_));
  world_.expect_same("The program's arguments", arguments_);
  world_.expect_same("What computes (GRADUS_ISA, GRADUS_MATMUL, GRADUS_BF16 and OPENBLAS_CORETYPE set it)",
                     std::string(name(current_isa())) + ", matmul " + name(matmul_backend()) + ", bf16 " +
                         name(bf16_backend_in_use()) + ", OpenBLAS " + openblas_core());
}

int Session::run_main(const std::function<int()>& main) {
  if (world_.size() == 1) return main();
  const std::size_t slash = program_.rfind('/');
  const Running who(program_.substr(slash == std::string::npos ? 0 : slash + 1) + ": rank " +
                    std::to_string(world_.rank()) + " of " + std::to_string(world_.size()));
  try {
    compare_ranks();
    const int status = main();
    std::fflush(stdout);
    world_.traffic().end();
    return status;
  } catch (const CommonError& error) {
    // Rank 0 says it for all; the others give it time.
    if (world_.rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(5));
    end_all(error.what());
  } catch (const std::exception& error) {
    // A file that is not there, for example, all ranks miss: rank 0 has time to be the one that says so.
    if (world_.rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(1));
    end_all(error.what());
  } catch (...) {
    end_all("an exception of a type that is not a std::exception");
  }
}

}  // namespace gradus::distributed
