// A thread of 1 MiB of stack may use every op: products keep blocks of their operands there.

#include <doctest/doctest.h>
#include <pthread.h>

#include <string>

#include "gradus/core/tape/autocast.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/ops.h"
#include "in_child.h"
#include "isas.h"
#include "threads_guard.h"

// With sanitizers frames are larger.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace gradus::test {

namespace {

void use_products() {
  for (const DType products : {f32, bf16}) {
    const Autocast guard(products);
    for (const std::int64_t n : {5, 100, 520}) {
      const Tensor a = randn({n, n}).requires_grad_(), b = randn({n, n}).requires_grad_();
      matmul(a, b).sum().backward();
      matmul(a.transpose(0, 1), b.transpose(0, 1)).sum().backward();
      linear(a, b).sum().backward();
    }
    const Tensor q = randn({2, 4, 200, 32}).requires_grad_();
    scaled_dot_product_attention(q, q, q, {.causal = true}).sum().backward();
  }
  const Tensor a = randn({300, 300}, f64);
  sort(matmul(a, a.transpose(0, 1)));
}

/// f() on a thread with so much stack; false if there can be none.
bool on_thread(std::size_t stack, void (*f)()) {
  pthread_attr_t attributes;
  pthread_t thread;
  const auto run = [](void* function) -> void* {
    (*static_cast<void (**)()>(function))();
    return nullptr;
  };
  const bool made = pthread_attr_init(&attributes) == 0 &&
                    pthread_attr_setstacksize(&attributes, stack) == 0 &&
                    pthread_create(&thread, &attributes, run, &f) == 0;
  return made && pthread_join(thread, nullptr) == 0;
}

}  // namespace

TEST_CASE("products: 1 MiB of stack is enough, with every instruction set and backend") {
  for (const Isa isa : kIsas) {
    if (!isa_supported(isa)) continue;
    for (const MatmulBackend backend : {MatmulBackend::automatic, MatmulBackend::gradus}) {
      CAPTURE(std::string(name(isa)));
      CAPTURE(std::string(name(backend)));
      CHECK(in_child([&] {
              const ThreadsGuard threads(1);  // all on the small stack
              set_isa(isa);
              set_matmul_backend(backend);
              return on_thread(std::size_t{1} << 20, use_products);
            }) == 0);
    }
  }
}

}  // namespace gradus::test

#endif
