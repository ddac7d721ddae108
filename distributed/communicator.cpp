#include "gradus/distributed/communicator.h"

#include <algorithm>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/traffic.h"
#include "gradus/distributed/detail/tree.h"

namespace gradus::distributed {

using namespace detail;

namespace {

/// Throws unless the memory of x can be sent as it is.
const Array& contents(const char* op, const Tensor& x) {
  check(x.defined(), "{}: the tensor is undefined", op);
  check(x.is_contiguous(), "{}: expects a contiguous tensor, got {} with strides {}: pass x.contiguous()", op,
        x.shape(), x.strides());
  return x.array();
}

/// The same for a tensor that is written.
const Array& target(const char* op, const Tensor& x) {
  const Array& array = contents(op, x);
  check(!(x.requires_grad() && grad_enabled()),
        "{}: the tensor {} requires grad, and would be changed in place: call it under NoGrad", op,
        x.shape());
  return array;
}

const Array& summable(const char* op, const Array& x) {
  check(x.dtype() == f32 || x.dtype() == f64 || x.dtype() == i64, "{}: expects f32, f64 or i64, got {} {}",
        op, x.dtype(), x.shape());
  return x;
}

/// A sum of all elements, in its own slices.
class AllReduce final : public Operation {
 public:
  AllReduce(Traffic& traffic, const Call& call, const Array& x)
      : Operation(call),
        slices_(x.numel(), traffic.size()),
        tree_(traffic, call, x.reshape({x.numel()}), slices_, TreeOperation::sum_and_share) {
    x.storage().bump_version();
  }
  bool poll() override {
    const bool done = tree_.poll();
    wait_as(tree_);
    return done;
  }

 private:
  Slices slices_;
  TreeOperation tree_;
};

/// A tensor on its way to or from one rank.
class Message final : public Operation {
 public:
  Message(Traffic& traffic, const Array& x, int peer, int tag, bool sends)
      : Operation({Kind::message, static_cast<std::uint64_t>(tag)}), x_(x) {
    peer_ = peer;
    if (sends)
      exchange_.begin_send(traffic.transport(), call_, bytes_of(x_), peer);
    else
      exchange_.begin_receive(traffic.transport(), call_, bytes_of(x_), peer);
  }
  bool poll() override { return exchange_.done(); }

 private:
  Array x_;
  Exchange exchange_;
};

}  // namespace

Work::Work(std::shared_ptr<Traffic> traffic, std::unique_ptr<Operation> operation)
    : traffic_(std::move(traffic)), operation_(std::move(operation)) {}
Work::Work(Work&&) noexcept = default;
/// A message goes on; of a sum, the call is interrupted.
Work::~Work() {
  if (operation_ && operation_->call().kind == Kind::message) traffic_->keep(std::move(operation_));
}

bool Work::done() {
  if (operation_ && operation_->poll()) operation_.reset();
  return !operation_;
}

void Work::wait() {
  if (operation_) traffic_->wait(*operation_);
  operation_.reset();
}

Communicator::Communicator() : traffic_(std::make_shared<Traffic>(alone())) {}

int Communicator::rank() const { return traffic_->rank(); }
int Communicator::size() const { return traffic_->size(); }
void Communicator::set_timeout(double seconds) const {
  check(seconds > 0, "set_timeout: expects more than 0 seconds, got {}", seconds);
  traffic_->set_timeout(seconds);
}

void Communicator::expect_rank(const char* op, int rank) const {
  check(rank >= 0 && rank < size(), "{}: expects a rank from 0 to {}, got {}", op, size() - 1, rank);
}

/// In round d = 1, 2, 4, ... each rank hears from rank + d what that has heard of; after the last, of all
/// (Hensgen, Finkel & Manber 1988).
void Communicator::barrier() const {
  const Call call = traffic_->begin(Kind::barrier);
  for (int d = 1; d < size(); d *= 2)
    traffic_->exchange(call, {}, (rank() - d + size()) % size(), {}, (rank() + d) % size());
}

/// A binomial tree: rank r, counted from the root, hears from r without its lowest bit.
void Communicator::broadcast(const Tensor& x, int root) const {
  expect_rank("broadcast", root);
  const Array& array = rank() == root ? contents("broadcast", x) : target("broadcast", x);
  const Call call = traffic_->begin(Kind::broadcast);
  const int me = (rank() - root + size()) % size();
  const auto rank_of = [&](int r) { return (r + root) % size(); };
  int below = 1;  // the ranks me + 1, me + 2, me + 4, ... up to here hear from this one
  while (below < size() && (me & below) == 0) below *= 2;
  if (me != 0) {
    traffic_->receive(call, bytes_of(array), rank_of(me - below));
    array.storage().bump_version();
  }
  for (int d = below / 2; d > 0; d /= 2)
    if (me + d < size()) traffic_->send(call, bytes_of(array), rank_of(me + d));
}

Work Communicator::all_reduce_async(const Tensor& x) const {
  const Array& array = summable("all_reduce", target("all_reduce", x));
  expect_power_of_two("all_reduce", size());
  auto sum = std::make_unique<AllReduce>(*traffic_, traffic_->begin(Kind::all_reduce), array);
  sum->poll();  // sends its first message
  return Work(traffic_, std::move(sum));
}

void Communicator::all_reduce(const Tensor& x) const { all_reduce_async(x).wait(); }

Tensor Communicator::reduce_scatter(const Tensor& x) const {
  const Array& array = summable("reduce_scatter", contents("reduce_scatter", x));
  expect_power_of_two("reduce_scatter", size());
  check(x.dim() > 0 && x.size(0) == size(),
        "reduce_scatter: expects x [{}, ...], a row for each rank, got {}", size(), x.shape());
  const Call call = traffic_->begin(Kind::reduce_scatter);
  const std::int64_t row = x.numel() / size();
  const Slices slices(x.numel(), size());
  // The tree leaves slice number i to the rank whose bits are those of i reversed.
  const Array rows = array.reshape({size(), row}),
              sums = Array::empty({x.numel()}, x.dtype(), "reduce_scatter");
  for (int r = 0; r < size(); ++r) {
    const Range slice = slices.of(r);
    sums.slice(0, slice.begin, slice.end).copy_(rows.select(0, r));
  }
  TreeOperation tree(*traffic_, call, sums, slices, TreeOperation::sum);
  traffic_->wait(tree);
  const Range own = slices.of(rank());
  Shape shape = x.shape();
  shape.erase(0);
  return Tensor(sums.slice(0, own.begin, own.end).reshape(shape).clone());
}

/// In round d = 1, 2, 4, ... each rank gets the rows that rank + d has, so that it has those of d more ranks,
/// from its own on (Bruck et al. 1997).
Tensor Communicator::all_gather(const Tensor& x) const {
  const Array& array = contents("all_gather", x);
  const Call call = traffic_->begin(Kind::all_gather);
  const std::int64_t row = x.numel();
  const Array found = Array::empty({size(), row}, x.dtype(), "all_gather");  // row i: rank + i's
  found.select(0, 0).copy_(array.reshape({row}));
  for (int d = 1; d < size(); d *= 2) {
    const int rows = std::min(d, size() - d);
    traffic_->exchange(call, bytes_of(found, {0, rows * row}), (rank() - d + size()) % size(),
                       bytes_of(found, {d * row, (d + rows) * row}), (rank() + d) % size());
  }
  Shape shape = x.shape();
  shape.insert(0, size());
  const Array all = Array::empty({size(), row}, x.dtype(), "all_gather");
  for (int i = 0; i < size(); ++i) all.select(0, (rank() + i) % size()).copy_(found.select(0, i));
  return Tensor(all.reshape(shape));
}

static void expect_tag(const char* op, int tag) {
  check(tag >= 0 && tag < static_cast<int>(Call::kNumbers), "{}: expects a tag from 0 to {}, got {}", op,
        static_cast<int>(Call::kNumbers) - 1, tag);
}

Work Communicator::isend(const Tensor& x, int to, int tag) const {
  expect_rank("send", to);
  expect_tag("send", tag);
  check(to != rank(), "send: rank {} cannot send to itself", to);
  return Work(traffic_, std::make_unique<Message>(*traffic_, contents("send", x), to, tag, true));
}

Work Communicator::irecv(const Tensor& x, int from, int tag) const {
  expect_rank("recv", from);
  expect_tag("recv", tag);
  check(from != rank(), "recv: rank {} cannot receive from itself", from);
  const Array& array = target("recv", x);
  array.storage().bump_version();
  return Work(traffic_, std::make_unique<Message>(*traffic_, array, from, tag, false));
}

void Communicator::send(const Tensor& x, int to, int tag) const { isend(x, to, tag).wait(); }
void Communicator::recv(const Tensor& x, int from, int tag) const { irecv(x, from, tag).wait(); }

}  // namespace gradus::distributed
