// Layer norm and RMS norm of one row at every tail, and hard rows, on every instruction set.

#include "norm_check.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("layer norm and RMS norm, forward and backward, with and without weights", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (bool centred : {false, true})
      for (bool weighted : {false, true}) {
        at_every_tail([&](I n, I offset) {
          if (n > 1) check_norm(table, {n, offset, weighted, centred});
        });
        for (I n : {768, 1024, 5003}) check_norm(table, {n, 1, weighted, centred});
      }
    // Variance 1 around a mean of 1000: one-pass formulas lose it.
    check_norm(table, {768, 0, true, true, 1000});
    check_norm(table, {4099, 0, true, true, -300});
  });
}

TEST_CASE_TEMPLATE("layer norm of a constant row is exactly its bias, with finite gradients", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : {1, 2, 3, 7, 16, 70, 768, 3001})
      for (T value : {T(0), T(0.1), T(-1.0 / 3), T(1e6), T(12345.678), T(1e-30),
                      std::numeric_limits<T>::denorm_min()}) {
        const std::vector<T> x(static_cast<std::size_t>(n), value), weight = normal_values<T>(n, 1),
                                                                    bias = normal_values<T>(n, 2);
        std::vector<T> y(x.size()), dx(x.size());
        T mean = 0, rstd = 0;
        table.layer_norm(1, n, T(1e-5), x.data(), weight.data(), bias.data(), y.data(), &mean, &rstd);
        CAPTURE(n);
        CAPTURE(value);
        CHECK(mean == value);
        CHECK(y == bias);
        table.layer_norm_grad(1, n, x.data(), weight.data(), &mean, &rstd, bias.data(), dx.data(), nullptr,
                              nullptr);
        bool finite = true;
        for (T v : dx) finite = finite && std::isfinite(v);
        CHECK(finite);
      }
  });
}

TEST_CASE_TEMPLATE("norm gradients accumulate weights without dx, and pass NaN on", T, float, double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const Row<T> row(21);
    std::vector<T> dweight(21, T(1)), dbias(21, T(1)), rms_dweight(21, T(1));
    const T zero = 0, one = 1;
    table.layer_norm_grad(1, 21, row.x.data(), row.weight.data(), &zero, &one, row.dy.data(), nullptr,
                          dweight.data(), dbias.data());
    table.rms_norm_grad(21, row.x.data(), row.weight.data(), 1, row.dy.data(), nullptr, rms_dweight.data());
    for (std::size_t i = 0; i < 21; ++i) {
      CHECK(std::fabs(dweight[i] - (1 + row.dy[i] * row.x[i])) <= 8 * eps<T>);
      CHECK(dweight[i] == rms_dweight[i]);
      CHECK(dbias[i] == 1 + row.dy[i]);
    }
    std::vector<T> x = row.x, y(21);
    x[20] = std::numeric_limits<T>::quiet_NaN();
    T mean = 0, rstd = 0;
    table.layer_norm(1, 21, T(1e-5), x.data(), nullptr, nullptr, y.data(), &mean, &rstd);
    for (T v : y) CHECK(std::isnan(v));
  });
}

TEST_CASE_TEMPLATE("layer norm of several rows at once gives the bits of one after another", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : {1, 5, 64, 600, 5000})
      for (I rows : {1, 3, 4, 9, 18}) {
        CAPTURE(n);
        CAPTURE(rows);
        const auto size = static_cast<std::size_t>(n * rows), count = static_cast<std::size_t>(rows);
        const std::vector<T> x = normal_values<T>(n * rows, 1), dy = normal_values<T>(n * rows, 2),
                             weight = normal_values<T>(n, 3), bias = normal_values<T>(n, 4);
        struct Results {
          std::vector<T> y, mean, rstd, dx, dweight, dbias;
          bool operator==(const Results&) const = default;
        };
        const auto run = [&](I at_once) {
          Results to{std::vector<T>(size),
                     std::vector<T>(count),
                     std::vector<T>(count),
                     std::vector<T>(size),
                     weight,
                     bias};
          for (I i = 0; i < rows; i += at_once) {
            T *const mean = to.mean.data() + i, *const rstd = to.rstd.data() + i;
            table.layer_norm(at_once, n, T(1e-5), x.data() + i * n, weight.data(), bias.data(),
                             to.y.data() + i * n, mean, rstd);
            table.layer_norm_grad(at_once, n, x.data() + i * n, weight.data(), mean, rstd, dy.data() + i * n,
                                  to.dx.data() + i * n, to.dweight.data(), to.dbias.data());
          }
          return to;
        };
        CHECK(run(rows) == run(1));
      }
  });
}

}  // namespace
}  // namespace gradus::test
