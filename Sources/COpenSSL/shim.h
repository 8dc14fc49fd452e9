// The parts of OpenSSL 3 that Swift's importer cannot handle: macros over a control call or a typed stack, and
// constants defined by expressions. The functions only wrap OpenSSL and decide nothing themselves.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// MARK: Contexts and connections

/// SSL_CTX_set_min_proto_version and SSL_CTX_set_max_proto_version are macros over SSL_CTX_ctrl.
static inline int shim_SSL_CTX_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return (int)SSL_CTX_set_min_proto_version(context, minimum) && (int)SSL_CTX_set_max_proto_version(context, maximum);
}

/// SSL_CTX_set_mode is a macro. In this mode, idle connections release their record buffers.
static inline void shim_SSL_CTX_release_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
}

/// The SSL_OP constants are 64-bit shift expressions. Disables renegotiation and compression.
static inline void shim_SSL_CTX_harden(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

/// SSL_CTX_set_session_cache_mode is a macro. The new-session callback is called, but nothing is cached.
static inline void shim_SSL_CTX_report_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/// SSL_CTX_set_session_cache_mode is a macro. A server does not resume sessions.
static inline void shim_SSL_CTX_forget_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// SSL_set_tlsext_host_name is a macro over SSL_ctrl.
static inline int shim_SSL_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

/// SSL_AD_REASON_OFFSET: an alert from the peer is queued as this plus its number.
static inline int shim_SSL_alert_offset(void) { return SSL_AD_REASON_OFFSET; }

// MARK: BIOs

/// BIO type numbers are expressions. This one is for a source and sink without a descriptor.
static inline int shim_BIO_memory_type(void) { return BIO_get_new_index() | BIO_TYPE_SOURCE_SINK; }

/// BIO_clear_retry_flags is a macro.
static inline void shim_BIO_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

/// BIO_set_retry_read is a macro.
static inline void shim_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

/// BIO_get_mem_data is a macro over BIO_ctrl.
static inline long shim_BIO_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// MARK: Stacks (the typed functions of safestack.h are macros)

static inline STACK_OF(X509) *shim_X509_stack_new(void) { return sk_X509_new_null(); }
static inline int shim_X509_stack_count(const STACK_OF(X509) *stack) { return stack == NULL ? 0 : sk_X509_num(stack); }
static inline X509 *shim_X509_stack_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline int shim_X509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline void shim_X509_stack_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int shim_name_stack_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *shim_name_stack_at(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

// MARK: Certificates

/// GENERAL_NAME is a C union with an int tag. Returns the string of a DNS name or the octets of an IP address, else
/// NULL.
static inline const ASN1_STRING *shim_name_text(const GENERAL_NAME *name) {
    return name->type == GEN_DNS ? name->d.dNSName : name->type == GEN_IPADD ? name->d.iPAddress : NULL;
}
static inline int shim_name_is_address(const GENERAL_NAME *name) { return name->type == GEN_IPADD; }

/// X509V3_set_ctx_nodb is a macro. Adds an extension in the syntax of openssl.cnf.
static inline int shim_X509_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) { return 0; }
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

/// NAME_CONSTRAINTS is an ASN.1 structure behind a void pointer. Whether an authority's name constraints allow a certificate.
static inline int shim_X509_constraints_allow(const X509 *authority, X509 *certificate) {
    // The check reads names that only this call takes out of the extensions.
    X509_check_purpose(certificate, -1, 0);
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(authority, NID_name_constraints, NULL, NULL);
    int isAllowed = constraints == NULL || NAME_CONSTRAINTS_check(certificate, constraints) == X509_V_OK;
    NAME_CONSTRAINTS_free(constraints);
    return isAllowed;
}

/// EVP_EC_gen is a macro over the variadic EVP_PKEY_Q_keygen.
static inline EVP_PKEY *shim_P256_key(void) { return EVP_EC_gen("P-256"); }

/// EVP_RSA_gen is a macro, too.
static inline EVP_PKEY *shim_RSA_2048_key(void) { return EVP_RSA_gen(2048); }

#endif
