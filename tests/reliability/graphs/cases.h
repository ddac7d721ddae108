#pragma once
// The ops that random graphs are made of.

#include <functional>
#include <vector>

#include "reliability/graphs/draw.h"
#include "reliability/graphs/step.h"

namespace gradus::test::graphs {

using Drawing = std::function<bool(Draw& draw, Step& p)>;
using Naive = std::function<Blocks(const Step& p, const Blocks& x)>;
inline constexpr auto kView = OpCase::Memory::view, kEither = OpCase::Memory::either;

std::vector<OpCase> elementwise_cases();
std::vector<OpCase> binary_cases();
std::vector<OpCase> reduction_cases();
std::vector<OpCase> order_cases();
std::vector<OpCase> view_cases();
std::vector<OpCase> join_cases();
std::vector<OpCase> index_cases();
std::vector<OpCase> product_cases();
std::vector<OpCase> norm_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> write_cases();

/// All of them but the writes.
const std::vector<OpCase>& op_cases();
const std::vector<OpCase>& writes();
/// The first of this name and, if given, with this call.
const OpCase& op_named(const std::string& name, const std::string& text = "");

Drawing one(const Wanted& wanted = {});

// The numbers of activations and the like, for several files.
Scalar exp(Scalar x);
Scalar log(Scalar x);
Scalar sqrt(Scalar x);
Scalar sigmoid(Scalar x);
Scalar absolute(Scalar x);
Scalar relu(Scalar x);
Scalar gelu(Scalar x);
Scalar gelu_tanh(Scalar x);
/// a / b rounded down.
Scalar floored(Scalar a, Scalar b);
Line softmax(const Line& x);
Line log_softmax(const Line& x);
Scalar logsumexp(const Line& x);

}  // namespace gradus::test::graphs
