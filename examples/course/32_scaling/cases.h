struct Answer {
  Factors (*mup)(Role role, int fan_in, int fan_out, double m);
  Tensor (*sensitivity)(const Tensor& end, const Tensor& start);
};
#define ANSWER(FROM) \
  { FROM::mup, FROM::sensitivity }

namespace {
/// What counts: a multiplier may also be in the standard deviation and in the rate.
double size_of(const Factors& f) { return f.std * f.multiplier; }
double rate_of(const Factors& f) { return f.rate * f.multiplier; }

/// How far Adam's first step of one matrix moves the output of out(hidden(tanh(in(x)))), over the rate; the
/// mean of 16 nets.
double moves(const Answer& answer, Role stepped, int width, double m) {
  const Factors f[] = {answer.mup(Role::input, 8, width, m), answer.mup(Role::hidden, width, width, m),
                       answer.mup(Role::output, width, 1, m)};
  double sum = 0;
  for (int net = 0; net < 16; ++net) {
    const auto start = [](const Factors& of, int from, int to) { return of.std * randn({from, to}); };
    Tensor w[] = {start(f[0], 8, width), start(f[1], width, width), start(f[2], width, 1)};
    const Tensor x = randn({1, 8});
    const auto output = [&] {
      const Tensor h = f[1].multiplier * matmul(tanh(f[0].multiplier * matmul(x, w[0])), w[1]);
      return (f[2].multiplier * matmul(h, w[2])).sum();
    };
    const auto i = static_cast<std::size_t>(stepped);
    w[i].requires_grad_();
    const Tensor before = output(), g = grad(before, {w[i]})[0];
    w[i] = w[i].detach() + 1e-6 * f[i].rate * g.sign();
    sum += (output() - before).item() / 1e-6 / 16;
  }
  return sum;
}

void equally_far(const Answer& answer, Role stepped) {
  const double base = moves(answer, stepped, 16, 1), wide = moves(answer, stepped, 256, 16);
  expect(wide > base / 2 && wide < base * 2,
         phrase("at m = 16 a step of this matrix moves the output {0:.3g} times as far as at m = 1",
                wide / base));
}
}  // namespace

CASE("at the base width nothing changes", "With m = 1: 1 / sqrt(fan_in), the rate itself, no multiplier.") {
  for (const Role role : {Role::input, Role::hidden, Role::output}) {
    const Factors f = answer.mup(role, 9, 4, 1);
    near("at m = 1 and fan_in 9, std times multiplier", size_of(f), 1 / 3.0);
    near("at m = 1, rate times multiplier", rate_of(f), 1);
  }
}
CASE("the input matrix stays as it is", "Its fan_in is the data's, which does not grow with the width.") {
  const Factors f = answer.mup(Role::input, 4, 160, 10);
  near("for m = 10 and fan_in 4, std times multiplier", size_of(f), 0.5);
  near("for m = 10, rate times multiplier", rate_of(f), 1);
}
CASE(
    "hidden values start with one size",
    "Their initial weights have random signs: a sum of fan_in terms is sqrt(fan_in) times as large as one.") {
  near("of a hidden matrix with fan_in 400 and fan_out 100, m = 25, std times multiplier",
       size_of(answer.mup(Role::hidden, 400, 100, 25)), 0.05);
}
CASE("a step of the hidden matrix moves the output equally far",
     "A step has the signs of what it multiplies: its fan_in terms add up, and fan_in grows like m.") {
  equally_far(answer, Role::hidden);
}
CASE("a step of the output matrix moves the output equally far",
     "Its fan_in terms add up, too: 1 / m, once, in the multiplier or in the rate.") {
  equally_far(answer, Role::output);
}
CASE("the output starts smaller in a wider net",
     "Its std times multiplier is that of the base net over m, not over sqrt(m).") {
  near("of an output matrix with fan_in 400, m = 25, std times multiplier",
       size_of(answer.mup(Role::output, 400, 3, 25)), 0.01);
}

CASE("a run that fails counts as its loss at the start",
     "minimum(end, start), for each run, before the mean.") {
  near("of the losses 1, 2, 9 that started at 3, sensitivity",
       answer.sensitivity(tensor({{1.0, 2.0, 9.0}}), tensor({{3.0, 3.0, 3.0}})), tensor({1.0}));
}
CASE("NaN counts as the loss at the start", "minimum(NaN, x) is NaN: ask isnan(end) first.") {
  near("of the losses 1, 2, NaN that started at 3, sensitivity",
       answer.sensitivity(tensor({{1.0, 2.0, NAN}}), tensor({{3.0, 3.0, 3.0}})), tensor({1.0}));
}
CASE("each seed has its own best rate", "min(1) of each seed's losses, not of the mean over seeds.") {
  near("of two seeds with the losses 1, 2, 3 and 6, 4, 5, sensitivity",
       answer.sensitivity(tensor({{1.0, 2.0, 3.0}, {6.0, 4.0, 5.0}}), full({2, 3}, 9.0)), tensor({1.0, 1.0}));
}
