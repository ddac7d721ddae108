#include "gradus/nn/transformer/residual.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"
#include "own_placements.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::kSmall;
using test::max_difference;
using test::PeriLN;
using test::randomize;
using test::Tensors;
using Lines = std::vector<std::string>;

namespace {

/// A connection with a parameter of its own and no norm: x + a f(x).
struct Gated : nn::Module {
  explicit Gated(const nn::BlockOptions&) {}
  nn::Parameter a = parameter("a", zeros({}));
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + a * f(x); }
};

/// A norm that is not the library's.
struct Half : nn::Module {
  explicit Half(std::int64_t size) : size_(size) {}
  Tensor operator()(const Tensor& x) const { return x * (2.0 / static_cast<double>(size_)); }

 private:
  std::int64_t size_;
};

static_assert(nn::ResidualConnection<nn::PreLN> && nn::ResidualConnection<PeriLN>);
static_assert(!nn::ResidualConnection<nn::LayerNorm> && !nn::ResidualConnection<Half>);

/// Outputs and all gradients, to the bit.
template <class A, class B, class... Rest>
void check_same(const A& a, const B& b, const Tensor& x, const Rest&... rest) {
  CHECK(keys_and_shapes(a) == keys_and_shapes(b));
  b.load_state_dict(a.state_dict());
  CHECK(max_difference(a(x, rest...), b(x, rest...)) == 0);
  a(x, rest...).square().sum().backward();
  b(x, rest...).square().sum().backward();
  for (const auto& [name, w] : a.named_parameters())
    CHECK(max_difference(w.grad(), b.parameter(name).grad()) == 0);
}

}  // namespace

TEST_CASE("residual: blocks of PreLN and PostLN are PreLNBlock and PostLNBlock to the bit") {
  const Tensor x = randn({2, 5, 4}), memory = randn({2, 3, 4});
  for (const nn::BlockOptions& options :
       {kSmall, nn::BlockOptions{.d_model = 4, .heads = 1, .gated = true, .causal = true, .bias = false}}) {
    check_same(nn::PreLNBlock(options), nn::Block<nn::PreLN>(options), x);
    check_same(nn::PostLNBlock(options), nn::Block<nn::PostLN>(options), x);
    check_same(nn::PreLNDecoderBlock(options), nn::DecoderBlock<nn::PreLN>(options), x, memory);
    check_same(nn::PostLNDecoderBlock(options), nn::DecoderBlock<nn::PostLN>(options), x, memory);
  }
}

TEST_CASE("residual: a connection of one's own, against its equation written out; gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4}), memory = randn({2, 2, 4});
  const nn::Block<PeriLN> block(kSmall);
  randomize(block);
  const auto norm = [&](const std::string& name, const Tensor& y) {
    return layer_norm(y, block.parameter(name + ".weight"), block.parameter(name + ".bias"));
  };
  const Tensor h = x + norm("norm1.out", block.self_attn(norm("norm1.in", x)));
  CHECK(max_difference(block(x), h + norm("norm2.out", block.ffn(norm("norm2.in", h)))) == 0);
  check_module(block, {x}, [&](const Tensors& in) { return block(in[0]); });

  const nn::DecoderBlock<PeriLN> decoder(kSmall);
  randomize(decoder);
  check_module(decoder, {x, memory}, [&](const Tensors& in) { return decoder(in[0], in[1]); });

  const nn::Block<Gated> gated(kSmall);
  CHECK(max_difference(gated(x), x) == 0);
  randomize(gated);
  check_module(gated, {x}, [&](const Tensors& in) { return gated(in[0]); });
}

TEST_CASE("residual: keys, kinds and dropout of a block of connections") {
  const nn::Block<PeriLN> block(kSmall);
  CHECK(block.kind() == "PeriLNBlock");
  CHECK(nn::DecoderBlock<Gated>(kSmall).kind() == "GatedDecoderBlock");
  CHECK(block.residual1.kind() == "PeriLN");
  Lines norms;
  for (const std::string& line : keys_and_shapes(block))
    if (line.starts_with("norm")) norms.push_back(line);
  CHECK(norms == Lines{"norm1.in.weight [4]", "norm1.in.bias [4]", "norm1.out.weight [4]",
                       "norm1.out.bias [4]", "norm2.in.weight [4]", "norm2.in.bias [4]",
                       "norm2.out.weight [4]", "norm2.out.bias [4]"});

  nn::BlockOptions options = kSmall;
  options.dropout = 0.5;
  const nn::Block<PeriLN> dropping(options);
  dropping.copy_parameters_from(block);
  const Tensor x = randn({2, 3, 4});
  CHECK(max_difference(dropping(x), dropping(x)) > 0);
  dropping.eval();
  CHECK(max_difference(dropping(x), block(x)) == 0);

  const nn::Block<nn::PreLN, PeriLN> two(kSmall);
  CHECK(two.kind() == "PreLNPeriLNBlock");
  CHECK(two.residual1.kind() == "PreLN");
  CHECK(two.residual2.kind() == "PeriLN");
  CHECK(nn::DecoderBlock<nn::PreLN, Gated>(kSmall).residual3.a.item() == 0);
  CHECK(nn::placement<nn::PreLN, PeriLN>().name == "PreLNPeriLN");
  randomize(two);
  const Tensor h = x + two.self_attn(two.residual1.norm(x));
  CHECK(max_difference(two(x), h + two.residual2.out(two.ffn(two.residual2.in(h)))) == 0);

  check_error([] { nn::Block<PeriLN>({.d_model = 6, .heads = 4}); },
              "PeriLNBlock: d_model 6 is not divisible by heads 4");
  check_error([&] { block(zeros({2, 3, 5})); }, "LayerNorm: expects x [..., 4], got [2, 3, 5] (in norm1.in)");
}

TEST_CASE("blocks: any norm") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4});
  nn::BlockOptions options = kSmall;
  options.norm = nn::make_norm<nn::RMSNorm>;
  options.eps = 1e-3;
  const nn::PreLNBlock pre(options);
  randomize(pre);
  const auto norm = [&](const std::string& name, const Tensor& y) {
    return rms_norm(y, pre.parameter(name + ".weight"), 1e-3);
  };
  const Tensor h = x + pre.self_attn(norm("norm1", x));
  CHECK(max_difference(pre(x), h + pre.ffn(norm("norm2", h))) == 0);
  check_module(pre, {x}, [&](const Tensors& in) { return pre(in[0]); });
  CHECK(pre.norm1.kind() == "RMSNorm");
  REQUIRE(pre.norm1.as<nn::RMSNorm>() != nullptr);
  CHECK(pre.norm1.as<nn::LayerNorm>() == nullptr);

  options.norm = nn::make_norm<Half>;
  const nn::PostLNBlock own(options);
  const Tensor g = (x + own.self_attn(x)) * 0.5;
  CHECK(max_difference(own(x), (g + own.ffn(g)) * 0.5) == 0);
  CHECK(own.norm2.kind() == "Half");

  struct Told : nn::Module {  // its options in another order than the library's
    struct Options {
      bool bias = true;
      double eps = 1;
    };
    Told(std::int64_t, const Options& given) : options(given) {}
    Tensor operator()(const Tensor& y) const { return y; }
    Options options;
  };
  struct Biased : nn::Module {
    struct Options {
      bool bias = true;
    };
    Biased(std::int64_t, const Options& given) : options(given) {}
    Tensor operator()(const Tensor& y) const { return y; }
    Options options;
  };
  options.bias = false;
  options.norm = nn::make_norm<Told>;
  const nn::Norm told = options.new_norm();
  CHECK_FALSE(told.as<Told>()->options.bias);
  CHECK(told.as<Told>()->options.eps == 1e-3);
  options.norm = nn::make_norm<Biased>;
  const nn::Norm biased = options.new_norm();
  CHECK_FALSE(biased.as<Biased>()->options.bias);

  options.norm = [](const nn::NormOptions& o) { return nn::LayerNorm(o.d_model, {.affine = false}); };
  CHECK(nn::PreLNDecoderBlock(options).norm3.own_parameters().empty());

  // Derived from Norm: its own call counts, not that of the base.
  struct Louder : nn::Norm {
    explicit Louder(std::int64_t size) : nn::Norm(nn::LayerNorm(size)) {}
    Tensor operator()(const Tensor& y) const { return y * 100.0; }
  };
  CHECK(max_difference(nn::make_norm<Louder>({.d_model = 4})(x), x * 100.0) == 0);
}
