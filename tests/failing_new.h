#pragma once
// Running out of memory on purpose. A program that uses this has an operator new of its own, which behaves as
// the C++ library's: it asks the new-handler, if there is one, and tries again.

#include <cstddef>

#include "call.h"

namespace gradus::test {

/// While it lives, one allocation of this thread finds no memory: the one after so many others. `for_good`:
/// none after it does either.
class FailingNew {
 public:
  FailingNew(int others, bool for_good);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  bool struck() const;
};

/// One call of operator new, and its delete.
void take_and_give_back();

/// Bytes that operator new has given out and not got back, now and at most since reset_most_taken(). For one
/// thread at a time.
std::size_t taken();
std::size_t most_taken();
void reset_most_taken();

/// Calls f with its first, second, ... allocation failing, alone and for good, until a run meets no failure
/// (after the first `all` with growing gaps). Each run must succeed or throw Error and leave nothing behind;
/// the last must succeed. `prepare` is called before each. Returns how many threw.
int with_every_allocation_failing(Call prepare, Call f, int all = 1000);

/// Calls change() after prepare(), with its first, second, ... allocation failing, alone and for good, until
/// a run meets no failure. Where it throws Error, unchanged() must throw nothing. Returns how many did.
int all_or_nothing(Call prepare, Call change, Call unchanged);

/// Throws unless `right`: for f above, as the checks of doctest take memory themselves.
void must(bool right);

}  // namespace gradus::test
