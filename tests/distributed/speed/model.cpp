#include "distributed/speed/model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradus::speed {

namespace {

Fit with_errors(const Cost& cost, const std::vector<Measured>& points) {
  Fit fit{cost};
  double squares = 0;
  for (const Measured& point : points) {
    const double error = std::abs(cost(point.bytes) / point.seconds - 1);
    squares += error * error;
    fit.worst = std::max(fit.worst, error);
  }
  fit.rms = std::sqrt(squares / static_cast<double>(points.size()));
  return fit;
}

}  // namespace

/// With u = 1 / seconds and v = bytes / seconds, the relative error is latency u + per_byte v - 1: linear
/// least squares in two unknowns.
Fit fit(const std::vector<Measured>& points) {
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (const Measured& point : points) {
    const double u = 1 / point.seconds, v = point.bytes / point.seconds;
    uu += u * u, uv += u * v, vv += v * v, u1 += u, v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  if (points.size() < 2 || !(determinant > 1e-12 * uu * vv))
    throw std::runtime_error("fit: expects times of two sizes at least");
  Cost cost{(u1 * vv - v1 * uv) / determinant, (v1 * uu - u1 * uv) / determinant};
  if (cost.latency < 0) cost = {0, v1 / vv};
  if (cost.per_byte < 0) cost = {u1 / uu, 0};
  return with_errors(cost, points);
}

double Profile::elements() const {
  double all = 0;
  for (const std::int64_t size : sizes) all += static_cast<double>(size);
  return all;
}

Gpt gpt_called(const std::string& name) {
  if (name == "gpt2-124m") return {name, 50257, 1024, 12, 768};
  if (name == "gpt2-1.5b") return {name, 50257, 1024, 48, 1600};
  throw std::runtime_error("expects gpt2-124m or gpt2-1.5b, got '" + name + "'");
}

/// gpt2-124m takes 0.511 s for 256 tokens, 0.0546 s of it AdamW; memory is read and written at 66 GB/s.
Machine two_cores() {
  const Gpt gpt = gpt_called("gpt2-124m");
  const double parameters = profile_of(gpt, {1, 1, 0}, 1).elements();
  const double multiplied = parameters - static_cast<double>(gpt.context * gpt.width);
  return {6 * multiplied * 256 / (0.511 - 0.0546), 66e9, 0.0546 / parameters};
}

Profile profile_of(const Gpt& gpt, const Machine& machine, double tokens) {
  Profile profile{.model = gpt.name, .tokens = tokens, .memory_speed = machine.memory_speed};
  const std::int64_t d = gpt.width, head = gpt.vocab * d;
  profile.sizes = {head, gpt.context * d};
  for (std::int64_t layer = 0; layer < gpt.layers; ++layer)
    for (const std::int64_t size : {3 * d * d, 3 * d, d * d, d, 4 * d * d, 4 * d, 4 * d * d, d, d, d, d, d})
      profile.sizes.push_back(size);
  profile.sizes.insert(profile.sizes.end(), {d, d});
  const double multiplied = profile.elements() - static_cast<double>(gpt.context * d);
  const double forward_of_one = 2 * tokens / machine.flops;
  profile.forward = multiplied * forward_of_one;
  profile.backward = 2 * profile.forward;
  profile.rest = machine.adam * profile.elements();
  double done = static_cast<double>(head);
  for (std::size_t i = profile.sizes.size(); i-- > 0;) {
    if (i > 1) done += static_cast<double>(profile.sizes[i]);
    profile.arrivals.push_back({i, 2 * done * forward_of_one});
  }
  return profile;
}

std::vector<Bucket> buckets_of(const Profile& profile, std::int64_t bucket_bytes) {
  std::vector<Bucket> buckets;
  std::vector<std::size_t> bucket_of(profile.sizes.size());
  for (std::size_t i = profile.sizes.size(); i-- > 0;) {
    const double bytes = 4.0 * static_cast<double>(profile.sizes[i]);
    if (buckets.empty() || buckets.back().bytes + bytes > static_cast<double>(bucket_bytes))
      buckets.push_back({});
    buckets.back().bytes += bytes;
    bucket_of[i] = buckets.size() - 1;
  }
  for (const Profile::Arrival& arrival : profile.arrivals) {
    double& ready = buckets[bucket_of[arrival.parameter]].ready;
    ready = std::max(ready, arrival.seconds);
  }
  return buckets;
}

double adding(const Profile& profile, double bytes, int ranks) {
  const double copy = 2, add = 3 * (ranks - 1.0) / ranks;  // arrays read and written
  return (copy + add) * bytes / profile.memory_speed;
}

Cost of_tree(const Cost& message, int ranks) {
  return {2 * std::log2(ranks) * message.latency, 2 * (ranks - 1.0) / ranks * message.per_byte};
}

Step predict(const Profile& profile, const std::vector<Bucket>& buckets, const Cost& each, double processor,
             bool overlap) {
  double last = profile.backward + processor;  // when backward is over, in seconds since it began
  if (overlap) {
    double free = 0, done = last;  // when the network is free; when all sums are done
    std::vector<Bucket> in_order = buckets;
    std::sort(in_order.begin(), in_order.end(),
              [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
    const double slower = last / profile.backward;
    for (const Bucket& bucket : in_order) {
      free = std::max(free, bucket.ready * slower) + bucket.bytes * each.per_byte;
      done = std::max(done, free + each.latency);
    }
    last = done;
  } else {
    for (const Bucket& bucket : buckets) last += each(bucket.bytes);
  }
  return {profile.computing(), profile.forward + last + profile.rest};
}

Step predict(const Profile& profile, std::int64_t bucket_bytes, const Cost& message, int ranks) {
  const std::vector<Bucket> buckets = buckets_of(profile, bucket_bytes);
  double processor = 0;
  for (const Bucket& bucket : buckets) processor += adding(profile, bucket.bytes, ranks);
  return predict(profile, buckets, of_tree(message, ranks), processor, /*overlap=*/true);
}

}  // namespace gradus::speed
