#pragma once
// The parts of readers().

#include <string>
#include <string_view>
#include <vector>

#include "reliability/readers.h"

namespace gradus::test {

std::vector<Reader> readers_of_tensors();     // npy, safetensors, checkpoints
std::vector<Reader> readers_of_models();      // config.json of every family
std::vector<Reader> readers_of_tokenizers();  // in every form
std::vector<Reader> readers_of_data();        // CSV, images, text, gzip
std::vector<Reader> readers_of_records();     // run logs, studies, exercises
std::vector<Reader> readers_of_words();       // einsum's equations, command lines

std::string bytes_of(const std::filesystem::path& path);
void put(const std::filesystem::path& path, std::string_view bytes);

/// Throws std::logic_error unless `kept`.
void promise(bool kept, const char* what);

}  // namespace gradus::test
