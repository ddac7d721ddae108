#pragma once
// What a test hands over to be called before the function it is handed to returns.

#include <type_traits>

namespace gradus::test {

/// A view of a callable without arguments, whose result is ignored. A compiler makes one in a small part of
/// the time that a std::function takes, and the tests have more than a thousand.
class Call {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Call>) Call(F&& f)
      : f_(&f), run_([](const void* g) {
          using Callable = std::remove_reference_t<F>;
          (*const_cast<Callable*>(static_cast<const Callable*>(g)))();
        }) {}
  void operator()() const { run_(f_); }

 private:
  const void* f_;
  void (*run_)(const void*);
};

}  // namespace gradus::test
