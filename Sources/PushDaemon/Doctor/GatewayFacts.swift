import APNSModel
import LinuxIO
import OpenSSL
import SecureTransport

/// What came of trying to reach a gateway, step by step; nothing is sent but a handshake.
struct GatewayFacts: Sendable {
    /// What went wrong, and what to do.
    struct Fault: Hashable, Sendable {
        let message: String
        let hint: String?
    }

    /// An attempt to connect to one address.
    struct Attempt: Hashable, Sendable {
        /// The address.
        let address: SocketAddress
        /// How long it took.
        let time: Duration
        /// Why it failed.
        let error: SystemError?
    }

    /// What both sides agreed on.
    struct Agreement: Hashable, Sendable {
        /// The version of TLS.
        let version: String
        /// What the server chose to speak (ALPN).
        let applicationProtocol: String?
        /// The server's certificate, and its last second.
        let server: String
        let notAfter: WallTime
        /// How long all took from the name to the handshake.
        let time: Duration
    }

    /// What the gateway makes of the app's certificate.
    enum Consent: Hashable, Sendable {
        /// It takes it.
        case given
        /// It has said nothing against it.
        case silent
        /// It does not take it.
        case refused(Fault)
        /// It closed the connection without a word.
        case closed
    }

    /// Whose gateway: the app's, or its feedback service.
    let role: String
    /// Where it is.
    let gateway: HostPort
    /// The proxy that is in between.
    let proxy: HostPort?
    /// Whether it has to speak HTTP/2.
    let wantsHTTP2: Bool
    /// Why no address was found.
    var lookup: Fault?
    /// What came of each address.
    var attempts: [Attempt] = []
    /// Why there was no handshake.
    var handshake: Fault?
    /// What it agreed on.
    var agreement: Agreement?
    /// What it makes of the app.
    var consent: Consent?
    /// Whether all the time was over before it had as much of it as it may need: what has failed then says nothing.
    var isCutShort = false

    /// A gateway that nobody has tried.
    init(role: String, gateway: HostPort, proxy: HostPort?, wantsHTTP2: Bool) {
        (self.role, self.gateway, self.proxy, self.wantsHTTP2) = (role, gateway, proxy, wantsHTTP2)
    }

    /// What is connected to: the proxy, if there is one.
    var next: HostPort { proxy ?? gateway }
}

extension GatewayFacts.Fault {
    /// An error of connecting in words.
    init(_ error: any Error) {
        switch error {
        case let error as TLSError: self.init(message: error.message, hint: error.hint)
        case let error as ProxyError: self.init(message: error.message, hint: error.hint)
        case let error as SystemError where error.isTimeOut:
            self.init(
                message: "\(error)",
                hint: "it takes the connection and says nothing: what listens there hangs, or a firewall holds it back")
        case _: self.init(message: "\(error)", hint: nil)
        }
    }
}
