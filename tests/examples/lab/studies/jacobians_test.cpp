#include <doctest/doctest.h>

#include "gradus/gradus.h"
#include "lab/studies/jacobians/own_norm.h"
#include "made_results.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

/// J^T g of a token, from a module with this backward, in f64.
Tensor passed_back(NormBackward backward, const Tensor& token, const Tensor& gradient) {
  const OwnLayerNorm norm({.d_model = token.numel(), .eps = 1e-5}, backward);
  Tensor x = token.clone();
  x.requires_grad_();
  norm(x.unsqueeze(0)).backward(gradient.unsqueeze(0));
  return x.grad();
}

}  // namespace

TEST_CASE("OwnLayerNorm has the stated backward pass, and the same bits forward") {
  const DefaultDType dtype(f64);
  Generator generator(2);
  const std::int64_t d = 6;
  const Tensor x = randn({d}, generator, f64), g = randn({d}, generator, f64);
  const Tensor sigma = (x.var({}, {.unbiased = false}) + 1e-5).sqrt();
  const Tensor xhat = (x - x.mean()) / sigma, identity = eye(d, {}, f64);
  const auto close = [&](NormBackward backward, const Tensor& jacobian) {
    const Tensor expected = jacobian.t().matmul(g.unsqueeze(1)).squeeze(1);
    return (passed_back(backward, x, g) - expected).abs().max().item() < 1e-12;
  };
  CHECK(close(NormBackward::right, (identity - 1.0 / d - outer(xhat, xhat) / double(d)) / sigma));
  CHECK(close(NormBackward::constant_sigma, (identity - 1.0 / d) / sigma));
  CHECK(close(NormBackward::printed, (identity - x.mean()) / sigma));
  CHECK(close(NormBackward::constants, identity / sigma));
  const Tensor right = OwnLayerNorm({.d_model = d, .eps = 1e-5}, NormBackward::right)(x);
  for (const NormBackward backward :
       {NormBackward::constant_sigma, NormBackward::printed, NormBackward::constants}) {
    const Tensor y = OwnLayerNorm({.d_model = d, .eps = 1e-5}, backward)(x);
    CHECK(y.to_vector<double>() == right.to_vector<double>());
  }
}

TEST_CASE("the study of the Jacobian: losses are compared within a seed, each at its best rate") {
  const auto measured = [](const std::string& run) -> Measured {
    if (run.starts_with("formula"))
      return {.numbers = {{"right", 1e-10}, {"printed", 0.5}, {"constant-sigma", 0.1}}, .series = {}};
    // The printed one is worse by 0.25 at its best rate, which is another one.
    const bool wrong = run.starts_with("printed");
    const double loss = run.find("lr0.003") != std::string::npos ? (wrong ? 1.25 : 1.0) : 2.0;
    return {.numbers = {{"loss", loss}, {"diverged", 0}, {"gradient-cosine", 0.5}},
            .series = {{"losses", {3, 2}}}};
  };
  made::check_study("jacobians", measured);
  const Study& study = study_named("jacobians");
  const Figures figures = study.figures(made::made_results(study, Budget::full, measured));
  for (const double lost : figures.at("loss.pre")) CHECK(lost == 0.25);
  CHECK(figures.at("jacobian-printed").front() == 0.5);
  // A missing rate leaves out its seed only.
  StudyResults some = made::made_results(study, Budget::full, measured);
  some.records.erase("printed-post-lr0.01-s3");
  CHECK(study.figures(some).at("loss.post").size() == figures.at("loss.post").size() - 1);
  // No seed chooses its own rate: a seed that alone is lucky at another rate does not get that loss.
  const auto lucky = [&](const std::string& run) {
    Measured made = measured(run);
    if (run == "printed-pre-lr0.01-s2") made.numbers["loss"] = 0.5;
    return made;
  };
  const Figures still = study.figures(made::made_results(study, Budget::full, lucky));
  for (const double lost : still.at("loss.pre")) CHECK(lost == 0.25);
}
