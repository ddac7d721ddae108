#include "gradus/core/threads/detail/locks.h"

#include "gradus/core/detail/platform.h"
#include "gradus/core/threads/detail/thread_pool.h"

namespace gradus {

namespace locks {
constinit std::mutex names;
constinit Gate blas;
constinit SpinLock gradients, ledgers, regions, depot;

static constinit int forks_before = 0;  // written in a child that has one thread
int forks() { return forks_before; }
}  // namespace locks

namespace {

void take_all() {
  locks::names.lock();
  locks::blas.close();
  locks::gradients.lock();
  locks::ledgers.lock();
  locks::regions.lock();
  locks::cache.lock();
  locks::depot.lock();
}

void give_back(bool to_child) {
  locks::depot.unlock();
  locks::cache.unlock();
  locks::regions.unlock();
  locks::ledgers.unlock();
  locks::gradients.unlock();
  to_child ? locks::blas.open_in_child() : locks::blas.open();
  locks::names.unlock();
}

void go_on() { give_back(/*to_child=*/false); }

void begin_child() {
  give_back(/*to_child=*/true);
  ++locks::forks_before;
  forget_pool();
}

// When the library is loaded: a program's own handlers, set later, run while the locks are free.
[[maybe_unused]] const bool registered = platform::on_fork(take_all, go_on, begin_child);

}  // namespace
}  // namespace gradus
