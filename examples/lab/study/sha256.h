#pragma once
// SHA-256 (FIPS 180-4, from OpenSSL): a published result names its parameters and data by it, and anyone can
// compute it again. Accidental changes of files are found by io::crc32().

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace gradus::lab {

/// Hashes bytes that arrive in parts: `Sha256 hash; for (...) hash.update(part); hash.hex();`
class Sha256 {
 public:
  Sha256();
  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view bytes) { return update(std::as_bytes(std::span(bytes))); }
  /// The digest of all bytes so far as 64 hexadecimal digits; update() may go on afterwards.
  std::string hex() const;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// The digest of one piece of data: `sha256("abc") == "ba7816bf..."`.
std::string sha256(std::string_view bytes);

}  // namespace gradus::lab
