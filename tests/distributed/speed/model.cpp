#include "distributed/speed/model.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
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

Profile Profile::with_tokens(double count) const {
  Profile other = *this;
  const double factor = count / tokens;
  other.tokens = count;
  other.forward *= factor, other.backward *= factor;
  for (Arrival& arrival : other.arrivals) arrival.seconds *= factor;
  return other;
}

Profile read_profile(const std::string& file) {
  std::ifstream in(file);
  const nlohmann::json all = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  try {
    Profile profile{.model = all.at("model"),
                    .tokens = all.at("tokens"),
                    .forward = all.at("forward_s"),
                    .backward = all.at("backward_s"),
                    .rest = all.at("rest_s"),
                    .memory_speed = all.at("memory_bytes_per_s"),
                    .sizes = all.at("sizes")};
    for (const auto& arrival : all.at("arrivals")) profile.arrivals.push_back({arrival.at(0), arrival.at(1)});
    for (const Profile::Arrival& arrival : profile.arrivals)
      if (arrival.parameter >= profile.sizes.size()) throw std::runtime_error("a parameter is out of range");
    return profile;
  } catch (const std::exception& error) {
    throw std::runtime_error(file + ": expects a profile that ./run bench ranks records: " + error.what());
  }
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
