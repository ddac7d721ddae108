#pragma once
// The parts of the study: its settings, which plan, figures and page share, and its measurements.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/nn/transformer/placement.h"
#include "lab/studies/charts.h"
#include "lab/studies/runs.h"

namespace gradus::lab::start {

inline const std::array<Titled, 2> kPlacements = {{{"pre", "Pre-LN"}, {"post", "Post-LN"}}};
inline constexpr std::array<const char*, 4> kSchemes = {"xiong", "fan_in", "xavier", "gpt2"};
/// "gpt2-768" is "gpt2" times sqrt(768/d): 0.02 is GPT-2's for 768 channels, and in few channels the same
/// number makes branches with almost no effect.
inline constexpr std::array<const char*, 4> kFormulaSchemes = {"fan_in", "xavier", "gpt2", "gpt2-768"};
/// With shortcuts, and without them: f(LN(x)), LN(f(x)) and f(x).
inline constexpr std::array<const char*, 6> kShortcuts = {"pre",     "post",     "none",
                                                          "pre-cut", "post-cut", "none-cut"};
inline constexpr std::array<const char*, 4> kMatrices = {"in_proj", "out_proj", "linear1", "linear2"};
/// The depth at which most claims are judged, and whose curves are kept.
inline constexpr std::int64_t kDepth = 32;
/// The least depth at which the decay of gradients with depth is measured.
inline constexpr std::int64_t kDecayFrom = 8;
inline constexpr std::int64_t kTrainedLayers = 12, kEarly = 100, kLater = 300;
inline constexpr std::int64_t kWindows = 8;  // of the validation set, for sizes
/// Steps of the runs that measure sublayers at the start and after training.
inline constexpr std::int64_t kRegulatedSteps = 1500;

std::vector<std::int64_t> depths_of(const StudyOptions& options);
std::vector<std::uint64_t> seeds_of(const StudyOptions& options);
std::vector<std::uint64_t> trained_seeds_of(const StudyOptions& options);
/// Seeds that no other run of this study has.
std::vector<std::uint64_t> regulated_seeds_of(const StudyOptions& options);

std::string stack_name(const std::string& placement, const std::string& scheme, std::int64_t layers,
                       std::uint64_t seed);
std::string formulas_name(const std::string& scheme, std::uint64_t seed);
std::string information_name(std::uint64_t seed);
std::string scaled_name(std::uint64_t seed);
std::string trained_name(const std::string& placement, std::uint64_t seed);
std::string regulated_name(std::uint64_t seed);

/// Their measurements, by seed.
Runs stacks_of(const StudyResults& results, const std::string& placement, const std::string& scheme,
               std::int64_t layers = kDepth);
Runs formulas_of(const StudyResults& results, const std::string& scheme);
Runs information_of(const StudyResults& results);
Runs scaled_of(const StudyResults& results);
Runs trained_of(const StudyResults& results, const std::string& placement);
Runs regulated_of(const StudyResults& results);

/// "pre", "post", "none", with "-cut" without their shortcuts. Throws for any other name.
nn::Placement placement_of(const std::string& word);
/// "Pre-LN", "Post-LN without shortcuts".
std::string title_of(const std::string& word);
/// Of kFormulaSchemes: "GPT-2, scaled, as at 768".
std::string formula_title(const std::string& scheme);

/// A stack of 64 channels before its first step, on 8 random positions, and the gradient of a cross-entropy
/// at the first of them. Numbers: "top" |dL/dW2| of the last block, "share" that of the first over it,
/// "spread.*" ln(largest / smallest norm over the blocks) for each kind of matrix, "size.first", "size.half",
/// "size.last" mean |x_l|^2 / d after a block (Post-LN: before its last norm), "cosine" of x_L and x_0,
/// "direct" |dL/dx_L| over |dL/dy|, y after the final norm, "arrives" the cosine of dL/dx_0 and dL/dy,
/// "activation" |dL/dx_0| over |dL/dx_L|; of Xiong et al.'s weights "mean.top" and "mean.spread.*", the same
/// of a loss that is the mean over all positions, as in theorem 1. Series by block at kDepth, with norms
/// and shortcuts: "gradients" over the last block's; of Xiong et al.'s weights "sizes", of "fan_in" and
/// "gpt2" "cosines".
Measured measure_stack(const std::string& placement, const std::string& scheme, std::int64_t layers,
                       std::uint64_t seed);

/// Jacobians in f64 of 6 blocks with 16 channels and 4 positions: relative errors of printed formulas, in
/// the Frobenius norm. "sum.pre" I + sum dF; "product.pre" prod(I + dF); "product.post" prod(I + dF) without
/// the norms' Jacobians; "full.post" with them; "chain.pre", "chain.post" a sublayer's chain rule made of
/// central differences, the largest; "below" how much the direct path alone changes a gradient below the
/// final norm; "formula.pre", "formula.post" a gradient's growth through a sublayer over (1 + |dF|), over
/// |dLN| (1 + |dF|), spectral norms, the geometric mean.
Measured measure_formulas(const std::string& scheme, std::uint64_t seed);

/// How well the norm and the direction of an input token can be read from a stack's output: R^2 of ridge
/// regressions on x and |x|, held out. "norm.*", "direction.*" of input, pre, post; "norm.branch": from
/// LN(x_0), the input of Pre-LN's first branch.
Measured measure_information(std::uint64_t seed);

/// Branches times 1, 10, 100, 1000, and the input times 1000: "output.*" length of the stack's output,
/// "gradient.*" |dL/dx_0|, at 1000 over at 1; series by factor.
Measured measure_scaled(std::uint64_t seed);

/// Trains 12 layers. After kEarly steps: "spread", "share", "size.first", "size.half", "size.last". Means
/// over the first kEarly steps: "stream", "branch", "output", root mean squares on 8 fixed windows; series of
/// them to the end. "loss" at the end.
Measured measure_trained(const std::string& placement, std::uint64_t seed, std::int64_t steps);

/// Root mean square.
double rms(const Tensor& x);

/// Trains 12 Pre-LN layers, and measures all 24 sublayers before the first step (".start") and after the last
/// (".end"), in root mean squares: "growth" the stream before the last sublayer over that before the first;
/// "normed" the largest distance from 1 of the stream normalised without gain and bias; the exponent p of
/// stream^p over the sublayers, of their inputs, "input", and of what they add over the stream, "share".
/// Series by sublayer: "stream", "input", "share". "loss" at the end.
Measured measure_regulated(std::uint64_t seed, std::int64_t steps);

/// Figures of claim 90, and their objections.
void add_of_regulated(Figures& all, const StudyResults& results);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::start
