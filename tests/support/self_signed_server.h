// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace cuco::testing {

/// Speaks TLS on 127.0.0.1 with a certificate that nobody has signed, and
/// counts the clients that talk to it all the same.
class SelfSignedServer {
public:
    SelfSignedServer() : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free)
    {
        const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
        const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
        X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
        X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
        X509_set_pubkey(certificate.get(), key.get());
        X509_NAME* const name = X509_get_subject_name(certificate.get());
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1,
                                   -1, 0);
        X509_set_issuer_name(certificate.get(), name);
        listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0 ||
            SSL_CTX_use_certificate(context_.get(), certificate.get()) != 1 ||
            SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1 ||
            ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            ::listen(listener_.get(), 4) != 0 ||
            ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no TLS server");
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { accept(); });
    }
    ~SelfSignedServer()
    {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
    }

    std::string url() const { return "https://localhost:" + std::to_string(port_); }
    int clientsThatTrusted() const { return trusted_; }

private:
    void accept()
    {
        while (true) {
            const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!connection.open())
                return;
            const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context_.get()), SSL_free);
            SSL_set_fd(session.get(), connection.get());
            char byte = 0;
            if (SSL_accept(session.get()) == 1 && SSL_read(session.get(), &byte, 1) == 1)
                ++trusted_;
        }
    }

    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    UniqueFd listener_;
    int port_ = 0;
    std::atomic<int> trusted_ = 0;
    std::thread thread_;
};

}  // namespace cuco::testing
