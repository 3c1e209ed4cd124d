// OpenSSL 3. Function-like macros do not import; each has a static inline here.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros over SSL_CTX_ctrl() and SSL_ctrl().
static inline int copenssl_ctx_protocols(SSL_CTX *ctx, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(ctx, lowest) && SSL_CTX_set_max_proto_version(ctx, highest);
}
static inline void copenssl_ctx_session_cache_off(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline void copenssl_ctx_release_buffers(SSL_CTX *ctx) { SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); }
static inline void copenssl_ctx_max_cert_list(SSL_CTX *ctx, long bytes) { SSL_CTX_set_max_cert_list(ctx, bytes); }
static inline int copenssl_ctx_add_chain(SSL_CTX *ctx, X509 *cert) { return (int)SSL_CTX_add1_chain_cert(ctx, cert); }
static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// SSL_OP_* are 64-bit cast macros. No tickets, no renegotiation, no compression.
static inline void copenssl_ctx_harden(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

// Without a callback a server does not acknowledge the name (SNI), and OpenSSL may not keep it.
static inline int copenssl_accept_name(SSL *ssl, int *alert, void *context) { return SSL_TLSEXT_ERR_OK; }
static inline void copenssl_ctx_accept_any_name(SSL_CTX *ctx) {
    SSL_CTX_set_tlsext_servername_callback(ctx, copenssl_accept_name);
}

// Macros over other macros.
static const int copenssl_bio_source_sink = BIO_TYPE_SOURCE_SINK;
static const int copenssl_bio_retry_read = BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY;

// EVP_EC_gen() is a macro over a variadic function.
static inline EVP_PKEY *copenssl_p256(void) { return EVP_EC_gen("P-256"); }

// X509V3_set_ctx_nodb() is a macro; the value is in the syntax of x509v3_config(5).
static inline int copenssl_add_extension(X509 *cert, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
    if (!extension) return 0;
    int added = X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

// STACK_OF() and what works on it are macros.
static inline int copenssl_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *copenssl_name(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

// A PKCS#12 file of a certificate, its key and what is above it, in one call instead of a stack from Swift.
// The MAC is set apart, because PKCS12_create() has no say in its digest.
static inline PKCS12 *copenssl_pkcs12(const char *password, const char *name, EVP_PKEY *key, X509 *leaf, X509 **above,
                                      int count, int cipher, int iterations, const EVP_MD *mac) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    if (!chain) return NULL;
    for (int i = 0; i < count; i++) {
        if (!sk_X509_push(chain, above[i])) {
            sk_X509_free(chain);
            return NULL;
        }
    }
    PKCS12 *made = PKCS12_create(password, name, key, leaf, chain, cipher, cipher, iterations, -1, 0);
    sk_X509_free(chain);
    if (made && !PKCS12_set_mac(made, password, -1, NULL, 0, iterations, mac)) {
        PKCS12_free(made);
        return NULL;
    }
    return made;
}
static inline int copenssl_safes_count(const STACK_OF(PKCS7) *safes) { return sk_PKCS7_num(safes); }
static inline PKCS7 *copenssl_safe(const STACK_OF(PKCS7) *safes, int index) { return sk_PKCS7_value(safes, index); }
static inline void copenssl_safes_free(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline int copenssl_safe_is_plain(const PKCS7 *safe) { return PKCS7_type_is_data(safe); }
// How a safe is encrypted with a password; NULL if it is not.
static inline const X509_ALGOR *copenssl_safe_algorithm(const PKCS7 *safe) {
    if (!PKCS7_type_is_encrypted(safe) || !safe->d.encrypted || !safe->d.encrypted->enc_data) return NULL;
    return safe->d.encrypted->enc_data->algorithm;
}
static inline int copenssl_bags_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return sk_PKCS12_SAFEBAG_num(bags); }
static inline const PKCS12_SAFEBAG *copenssl_bag(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void copenssl_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

// An expression of casts and flags.
static inline int copenssl_is_unsupported(unsigned long error) { return ERR_GET_REASON(error) == ERR_R_UNSUPPORTED; }
