#include "lab/study/side_by_side.h"

#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>

using namespace gradus::lab;

TEST_CASE("work runs on as many threads as given, and the first error is thrown") {
  std::atomic<int> calls = 0;
  side_by_side(3, [&] { ++calls; });
  CHECK(calls == 3);
  CHECK_THROWS_WITH(side_by_side(3, [] { throw std::runtime_error("no luck"); }), "no luck");
}

#ifdef __GLIBC__
TEST_CASE("where no more threads can be created the work is done by those there are") {
  pthread_attr_t usual, huge;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_attr_init(&huge) == 0);
  REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 60) == 0);  // more than the address space
  REQUIRE(pthread_setattr_default_np(&huge) == 0);
  int calls = 0;
  CHECK_NOTHROW(side_by_side(16, [&] { ++calls; }));
  CHECK(pthread_setattr_default_np(&usual) == 0);
  CHECK(calls == 1);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&usual);
}
#endif
