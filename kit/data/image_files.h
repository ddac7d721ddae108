#pragma once
// Reads images as tensors: PNG, PPM and PGM files, and IDX files, which hold MNIST and data sets like it.
//
//   const Tensor cat = kit::read_image("cat.png");                                   // f32 [3, H, W]
//   const Tensor x = kit::read_idx_images("mnist/train-images-idx3-ubyte.gz");       // f32 [60000, 1, 28,
//   28] const Tensor y = kit::read_idx_labels("mnist/train-labels-idx1-ubyte.gz");       // i64 [60000]
//
// image.h draws tensors as images.

#include <filesystem>

#include "gradus/core/tensor.h"

namespace gradus::kit {

/// The image in a PNG, PPM or PGM file as f32 in [0, 1]: [1, H, W] if it is gray, [3, H, W] (red, green,
/// blue) if it has colors. Values of a PNG are k / 255, in sRGB, which matters for a file that says it has
/// another gamma: 16 bits are reduced to 8, and transparent parts are blended with white as light is: half
/// transparent black is 0.73.
///
///   const Tensor image = kit::read_image("cat.png");
///   const Tensor batch = image.unsqueeze(0);  // [1, 3, H, W], as nn::Conv2d expects it
///
/// Throws, naming the file, when it is of another format, damaged or cut short, or has more than 2^26 pixels
/// (8192 x 8192).
Tensor read_image(const std::filesystem::path& path);

/// The images in an IDX file of bytes, also if it is gzipped: f32 [N, 1, H, W] in [0, 1].
///
///   const Tensor x = kit::read_idx_images("mnist/train-images-idx3-ubyte.gz");
///   const Tensor logits = mlp(x.flatten(1));  // [60000, 784] -> [60000, 10]
///
/// Throws, naming the file, when it is no such file, or its size is not the one that its header implies;
/// this is checked before memory is allocated.
Tensor read_idx_images(const std::filesystem::path& path);

/// The labels in an IDX file of bytes, also if it is gzipped: i64 [N], from 0 to 255.
///
///   const Tensor y = kit::read_idx_labels("mnist/train-labels-idx1-ubyte.gz");
///   const Tensor loss = cross_entropy(logits, y);
///
/// Throws like read_idx_images().
Tensor read_idx_labels(const std::filesystem::path& path);

}  // namespace gradus::kit
