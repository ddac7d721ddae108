#include "lab/study/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "gradus/core/error.h"

namespace gradus::lab {
namespace {

void require(bool succeeded) {
  if (!succeeded) fail("sha256: OpenSSL's libcrypto refused");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  return *this;
}

std::string Sha256::hex() const {
  // Finishing ends a context, so it is done on a copy.
  const std::unique_ptr<evp_md_ctx_st, Free> copy(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(copy && EVP_MD_CTX_copy_ex(copy.get(), context_.get()) == 1 &&
          EVP_DigestFinal_ex(copy.get(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256(std::string_view bytes) { return Sha256().update(bytes).hex(); }

}  // namespace gradus::lab
