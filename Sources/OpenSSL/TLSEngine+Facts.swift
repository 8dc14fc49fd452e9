import COpenSSL

extension TLSEngine {
    /// The negotiated version; `nil` before the handshake is complete.
    package var version: TLSVersion? {
        guard isEstablished else { return nil }
        return TLSVersion(rawValue: Int(unsafe SSL_version(ssl)))
    }

    /// The cipher suite's name in OpenSSL, such as `TLS_AES_128_GCM_SHA256`; `nil` before the handshake is complete.
    package var cipher: String? {
        guard isEstablished, let cipher = unsafe SSL_get_current_cipher(ssl) else { return nil }
        return unsafe String(cString: SSL_CIPHER_get_name(cipher))
    }

    /// The ALPN name that the server selected; `nil` if it selected none.
    package var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &start, &count)
        guard let start = unsafe start, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// The content of the peer's certificate; `nil` if it sent none. Parsed on each call.
    package var peerCertificate: CertificateFacts? {
        guard let pointer = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        let certificate = unsafe CertificateHandle(adopting: pointer)
        return unsafe CertificateFacts(reading: certificate.pointer)
    }
}
