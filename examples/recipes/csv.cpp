// A CSV file: columns of numbers and of words by their names, and a regression from them.
#include <cstdio>
#include <fstream>

#include "gradus/gradus.h"
#include "gradus/kit/data/csv.h"

using namespace gradus;

int main() {
  std::ofstream("flats.csv") << "size,rooms,city,rent\n"
                                "30,1,Bern,950\n45,2,Genf,1700\n60,2,Bern,1610\n75,3,Genf,2510\n"
                                "50,2,Chur,1120\n90,4,Chur,1950\n100,4,Bern,2620\n38,1,Genf,1440\n";
  const kit::Csv flats = kit::read_csv("flats.csv");
  const kit::Categories cities = flats.categories("city");
  const Tensor city = one_hot(cities.ids, static_cast<std::int64_t>(cities.names.size())).to(f32);
  const Tensor x =
      cat({flats.tensor({"size", "rooms"}) / tensor({100.0, 4.0}), city}, 1);  // [rows, 2 + cities]
  const Tensor rent = flats.tensor({"rent"}) / 1000;                           // [rows, 1]

  manual_seed(0);
  const nn::Linear net(x.size(1), 1, {.bias = false});
  optim::Adam opt(net.parameters(), {.lr = 0.05});
  for (int step = 0; step < 2000; ++step) {
    opt.zero_grad();
    mse_loss(net(x), rent).backward();
    opt.step();
  }
  const std::vector<float> w = net.weight.to_vector<float>();
  for (std::size_t i = 0; i < cities.names.size(); ++i)
    std::printf("%s %+.0f\n", cities.names[i].c_str(), static_cast<double>(w[2 + i] * 1000));
  std::printf("a square metre %.1f, on average off by %.0f\n", static_cast<double>(w[0]) * 10,
              1000 * l1_loss(net(x), rent).item());
}
