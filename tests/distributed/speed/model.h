#pragma once
// A model of a data-parallel step, from measured computing and measured or assumed communication. It knows
// nothing of gradus but the order and sizes of the gradients, so that simulated ranks use it, too.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradus::speed {

/// Seconds a message or a call takes: latency + bytes * per_byte.
struct Cost {
  double latency = 0, per_byte = 0;
  double operator()(double bytes) const { return latency + bytes * per_byte; }
};

struct Measured {
  double bytes = 0, seconds = 0;
};

struct Fit {
  Cost cost;
  double rms = 0, worst = 0;  // of the relative errors: 0.1 is 10%
};

/// The cost with the least sum of squared relative errors, neither part below 0. Throws without two sizes.
Fit fit(const std::vector<Measured>& points);

/// A GPT with a tied head, and a machine that computes it.
struct Gpt {
  std::string name;
  std::int64_t vocab, context, layers, width;
};
struct Machine {
  double flops;         // of a training step, per second
  double memory_speed;  // bytes per second, read and written
  double adam;          // seconds of AdamW per parameter
};

/// GPT-2 with 124 million and with 1.5 billion parameters. Throws for another name.
Gpt gpt_called(const std::string& name);
/// Two cores with AVX-512: those of docs/performance.md.
Machine two_cores();

/// One rank's step of a model on one shard of `tokens` tokens, without any communication.
struct Profile {
  struct Arrival {
    std::size_t parameter = 0;
    double seconds = 0;  // since backward began
  };
  std::string model = {};
  double tokens = 0;
  double forward = 0, backward = 0, rest = 0;  // seconds; rest: the optimizer and whatever else
  double memory_speed = 0;                     // bytes per second, read and written
  std::vector<std::int64_t> sizes = {};             // elements of the parameters, in their order in the model
  std::vector<Arrival> arrivals = {};               // of their gradients, in order

  double computing() const { return forward + backward + rest; }
  double elements() const;  // of all parameters
};

/// Six operations a token for each weight that is multiplied, two of them in forward. In backward, gradients
/// arrive from the last parameter to the first, each after its share of the operations; before them comes the
/// head, whose weight is the first parameter, the token embedding, which is complete only at the end.
Profile profile_of(const Gpt& gpt, const Machine& machine, double tokens);

/// Gradients that are sent together.
struct Bucket {
  double bytes = 0;
  double ready = 0;  // when its last gradient arrives, in seconds since backward began
};

/// The buckets of detail::Layout, for parameters of f32.
std::vector<Bucket> buckets_of(const Profile& profile, std::int64_t bucket_bytes);

/// Time of the processor that summing a bucket over `ranks` takes: it is copied into its place, and each
/// received half is added.
double adding(const Profile& profile, double bytes, int ranks);

/// The cost of summing a bucket in the tree, given that of a message.
Cost of_tree(const Cost& message, int ranks);

struct Step {
  double computing = 0, total = 0;  // seconds
  double efficiency() const { return computing / total; }
};

/// With `overlap`, the network sends a bucket while backward goes on, one bucket's bytes after the other's;
/// latencies overlap, too. Without, the processor does it, as between processes of one machine, and all is
/// added. `each` is the cost of a bucket, `processor` what of it (adding()) is not in `each`.
Step predict(const Profile& profile, const std::vector<Bucket>& buckets, const Cost& each, double processor,
             bool overlap);

/// The same on `ranks` machines of a network whose messages cost `message`.
Step predict(const Profile& profile, std::int64_t bucket_bytes, const Cost& message, int ranks);

}  // namespace gradus::speed
