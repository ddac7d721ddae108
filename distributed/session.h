#pragma once
// Session: the ranks of a program, from its start to its end.
//
//   int main(int argc, char** argv) {
//     distributed::Session session(argc, argv);
//     return session.run([&](distributed::Communicator world) { train(world); });
//   }
//
// Started by `mpirun -n 4 ./program`, each of the four processes is a rank; started as `./program`, it is the
// only one, with the same results.

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>

#include "gradus/distributed/communicator.h"

namespace gradus::distributed {

/// One per program, made at the beginning of main. Throws when mpirun has started several ranks and gradus
/// was built without MPI, or with an MPI other than mpirun's.
class Session {
 public:
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The ranks of the program.
  const Communicator& world() const { return world_; }

  /// Runs main(world) and returns what it returns, an exit status, or 0. First it checks that all ranks have
  /// the same version of gradus, the same program, arguments, instruction set and backends of products: they
  /// would compute different bits. If main throws on one of several ranks, or a rank ends in another way
  /// before all are done, its message goes to stderr, "train: rank 2 of 4: ...", and all ranks end, within
  /// seconds. With one rank an exception leaves run() as usual.
  template <std::invocable<Communicator> Main>
  int run(Main&& main) {
    return run_main([&]() -> int {
      if constexpr (std::is_void_v<std::invoke_result_t<Main, Communicator>>) {
        main(world_);
        return 0;
      } else {
        return main(world_);
      }
    });
  }

 private:
  int run_main(const std::function<int()>& main);
  void compare_ranks() const;

  std::string program_, arguments_;
  Communicator world_;
  bool of_mpi_ = false;
};

}  // namespace gradus::distributed
