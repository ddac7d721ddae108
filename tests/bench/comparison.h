#pragma once
// What ./run bench --against-pytorch says: its table, and its warning about unequal kernels.

#include <string>
#include <vector>

namespace gradus::bench {

/// One framework's figures for a case.
struct Side {
  double median_s = 0;
  double peak_rss_mb = 0;
};

struct Comparison {
  std::string name;
  Side gradus, pytorch;
  std::string setting{};          // the one PyTorch was fastest with, such as "2 threads, OpenMP"
  std::string precision = "f32";  // of gradus

  /// Below 1: gradus is faster.
  double ratio() const { return gradus.median_s / pytorch.median_s; }
};

/// The middle one; of an even number, the mean of the middle two. Throws for none.
double median(std::vector<double> values);

std::string table_head();
std::string table_row(const Comparison& c);
std::string json_row(const Comparison& c);

/// What --precision bf16 says where products in bf16 are no faster: the name of the instruction set in use.
std::string slow_bf16(const std::string& isa);

/// Who multiplies matrices, on what.
struct Kernels {
  std::string isa;               // gradus's own kernels, as "avx2"
  std::string matmul;            // who multiplies for gradus: "automatic", "gradus" or "openblas"
  std::string gradus_openblas;   // the kernels of the OpenBLAS gradus is linked with, such as "SkylakeX"
  std::string pytorch_openblas;  // of PyTorch's; "" when it has another BLAS
  bool cpu_has_avx512 = false;
  bool coretype_is_set = false;  // by OPENBLAS_CORETYPE
};

/// A backend's name in a sentence: "gradus or OpenBLAS", "gradus" or "OpenBLAS".
std::string who_multiplies(const std::string& matmul);

/// "2 threads, avx512 kernels, matrix products by gradus; OpenBLAS: SkylakeX"
std::string describe(const Kernels& kernels, int threads);

/// What the comparison suffers from when an OpenBLAS runs kernels older than AVX-512 on a CPU that has it; ""
/// when it does not.
std::string unequal_kernels(const Kernels& kernels);

}  // namespace gradus::bench
