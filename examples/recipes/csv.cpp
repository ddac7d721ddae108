// A CSV file with gaps: columns by name, a split, values standardized by the training rows' mean and spread.
#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "gradus/kit/kit.h"

using namespace gradus;

void write_flats(const char* path) {
  std::string rows = "size,rooms,city,rent\n";
  for (int i = 0; i < 300; ++i) {  // in every tenth row the number of rooms is missing
    const int size = randint(30, 120, {1}).item<int>(), chance = randint(0, 100, {1}).item<int>();
    const int rooms = size / 25, rent = 15 * size + 60 * rooms + 200 * (i % 3) + chance;
    rows += fmt::format("{},{},{},{}\n", size, i % 10 ? std::to_string(rooms) : "", "BCG"[i % 3], rent);
  }
  kit::replace_file(path, rows);
}

int main() {
  manual_seed(0);
  write_flats("flats.csv");
  const kit::Csv flats = kit::read_csv("flats.csv", {.missing = NAN});
  const Tensor raw = flats.tensor({"size", "rooms"}), rent = flats.tensor({"rent"}) / 1000, gap = raw.isnan();
  const Tensor city = one_hot(flats.categories("city").ids, 3).to(f32);
  const auto [train, unseen] = data::random_split(flats.rows(), 0.8);
  const Tensor mean = masked_fill(raw, gap, 0)[train].sum(0) / (!gap[train]).sum(0).to(f32);
  const Tensor filled = where(gap, mean, raw);  // [rows, 2]
  const Tensor x = cat({(filled - mean) / filled[train].std(0), city}, 1);
  const nn::Linear net(x.size(1), 1);
  optim::Adam opt(net.parameters(), {.lr = 0.05});
  for (int step = 0; step < 500; ++step) {
    opt.zero_grad();
    mse_loss(net(x[train]), rent[train]).backward();
    opt.step();
  }
  fmt::print("unseen flats: off by {:.0f}\n", 1000 * l1_loss(net(x[unseen]), rent[unseen]).item());
}
