// Ranks as processes that MPI started. The only file that includes mpi.h.

#define OMPI_SKIP_MPICXX 1  // the C++ bindings that MPI no longer has
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/mpi.h"

namespace gradus::distributed::detail {

const bool kHasMpi = true;

namespace {

std::size_t piece = std::size_t{1} << 30;  // MPI counts in int

/// Throws what MPI says unless the call succeeded.
void check_mpi(int code, const char* call, int rank, int peer) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail_with("rank {}, talking to rank {}: {}: {}", rank, peer, call,
            std::string(text, static_cast<std::size_t>(length)));
}

/// A message as one request for each piece; one at least, also for no bytes.
class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(int rank, int peer, bool receives) : rank_(rank), peer_(peer), receives_(receives) {}

  /// Only after an error: see Transfer.
  ~MpiTransfer() override {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      if (receives_) MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  /// begin(first, count, request) for each piece.
  template <class Begin>
  void begin(std::size_t bytes, const char* call, Begin begin) {
    for (std::size_t first = 0; first == 0 || first < bytes; first += piece) {
      requests_.push_back(MPI_REQUEST_NULL);
      const int code = begin(first, static_cast<int>(std::min(piece, bytes - first)), &requests_.back());
      check_mpi(code, call, rank_, peer_);
    }
    bytes_ = bytes;
  }

  bool done() override {
    std::vector<MPI_Status> statuses(requests_.size());
    int all = 0;
    const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, statuses.data());
    if (code == MPI_ERR_IN_STATUS) {
      for (const MPI_Status& status : statuses) {
        if (status.MPI_ERROR == MPI_SUCCESS || status.MPI_ERROR == MPI_ERR_PENDING) continue;
        int kind = 0;
        MPI_Error_class(status.MPI_ERROR, &kind);
        if (kind != MPI_ERR_TRUNCATE) check_mpi(status.MPI_ERROR, "MPI_Testall", rank_, peer_);
        bytes_ = kTooMany;
        return true;
      }
    } else {
      check_mpi(code, "MPI_Testall", rank_, peer_);
    }
    if (!all) return false;
    if (receives_ && bytes_ != kTooMany) {
      bytes_ = 0;
      for (const MPI_Status& status : statuses) {
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        bytes_ += static_cast<std::size_t>(count);
      }
    }
    return true;
  }

  std::size_t bytes() const override { return bytes_; }

 private:
  int rank_, peer_;
  bool receives_;
  std::vector<MPI_Request> requests_;
  std::size_t bytes_ = 0;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "MPI_Comm_dup", rank_, rank_);
    MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> send(ConstBytes bytes, int to, int tag) override {
    auto transfer = std::make_unique<MpiTransfer>(rank_, to, false);
    transfer->begin(bytes.size(), "MPI_Isend", [&](std::size_t first, int count, MPI_Request* request) {
      return MPI_Isend(bytes.data() + first, count, MPI_BYTE, to, tag, ranks_, request);
    });
    return transfer;
  }

  std::unique_ptr<Transfer> receive(Bytes bytes, int from, int tag) override {
    auto transfer = std::make_unique<MpiTransfer>(rank_, from, true);
    transfer->begin(bytes.size(), "MPI_Irecv", [&](std::size_t first, int count, MPI_Request* request) {
      return MPI_Irecv(bytes.data() + first, count, MPI_BYTE, from, tag, ranks_, request);
    });
    return transfer;
  }

  int arrived(int from, int tag) override {
    int found = 0;
    MPI_Status status;
    const int code = MPI_Iprobe(from == kAnyRank ? MPI_ANY_SOURCE : from, tag, ranks_, &found, &status);
    check_mpi(code, "MPI_Iprobe", rank_, from);
    return found ? status.MPI_SOURCE : kNone;
  }

 private:
  MPI_Comm ranks_ = MPI_COMM_NULL;  // our own messages, apart from those of the program
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<Transport> start_mpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    fail_with("Session: MPI_Init_thread failed");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return std::make_unique<MpiTransport>();
}

void finish_mpi() noexcept { MPI_Finalize(); }

void abort_mpi(int status) noexcept {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

void set_mpi_piece(std::size_t bytes) { piece = bytes; }

}  // namespace gradus::distributed::detail
