import Gateways
import LinuxIO
import OpenSSL
import PushHTTP2
import PushModel
import SecureTransport

/// The results of connecting to a gateway, step by step. Nothing is sent but a handshake.
struct GatewayFacts: Sendable {
    /// An error and how to fix it.
    struct Fault: Hashable, Sendable {
        let message: String
        let hint: String?
    }

    /// An attempt to connect to one address.
    struct Attempt: Hashable, Sendable {
        /// The address.
        let address: SocketAddress
        /// The duration of the attempt.
        let time: Duration
        /// The error, if the attempt failed.
        let error: SystemError?
    }

    /// The results of a TLS handshake.
    struct HandshakeResult: Hashable, Sendable {
        /// The TLS version.
        let version: String
        /// The protocol that the server selected (ALPN).
        let applicationProtocol: String?
        /// The name of the server's certificate, and its last second of validity.
        let server: String
        let notAfter: WallTime
        /// The time from the name lookup to the end of the handshake.
        let time: Duration
    }

    /// The gateway's reaction to the app's certificate.
    enum ClientAuthentication: Hashable, Sendable {
        /// The gateway accepts the certificate.
        case given
        /// The gateway has not rejected the certificate within the time limit.
        case silent
        /// The gateway rejects the certificate.
        case refused(Fault)
        /// The gateway closed the connection without an error.
        case closed
    }

    /// What FCM says about a message that it only checks.
    enum Trial: Hashable, Sendable {
        /// It accepts it.
        case accepted
        /// It knows the account, but does not take the message now.
        case postponed(Fault)
        /// It refuses it, or there is no access token.
        case refused(Fault)
        /// The gateway or the token endpoint did not answer.
        case unanswered(Fault)
        /// The same, but the time limit left it less time than it may need.
        case cutShort(Fault)
    }

    /// The role for messages: the gateway, or the feedback service.
    let role: String
    /// The address of the gateway.
    let gateway: HostPort
    /// The proxy on the way to the gateway.
    let proxy: HostPort?
    /// Whether the gateway must speak HTTP/2.
    let wantsHTTP2: Bool
    /// Whether the app proves itself with tokens, of which a handshake shows nothing.
    var usesTokens = false
    /// What FCM said about the app's service account; `nil` if it was not asked.
    var trial: Trial?
    /// Why no address was found.
    var lookup: Fault?
    /// The attempts, one for each address.
    var attempts: [Attempt] = []
    /// Why the handshake failed.
    var handshake: Fault?
    /// The results of the handshake.
    var agreement: HandshakeResult?
    /// The gateway's reaction to the app.
    var consent: ClientAuthentication?
    /// Whether the deadline left less time than a step may need. A failure then says nothing about the gateway.
    var isCutShort = false

    /// Creates the facts for a gateway that has not been tried.
    init(role: String, gateway: HostPort, proxy: HostPort?, wantsHTTP2: Bool) {
        (self.role, self.gateway, self.proxy, self.wantsHTTP2) = (role, gateway, proxy, wantsHTTP2)
    }

    /// The host to connect to: the proxy, if there is one.
    var next: HostPort { proxy ?? gateway }
}

extension GatewayFacts.Trial {
    /// What an answer of FCM's says.
    init(_ reply: Reply) {
        let detail = reply.detail.map { ": \($0)" } ?? ""
        let fault = GatewayFacts.Fault(message: "\(reply.name) (status \(reply.status))\(detail)", hint: reply.hint)
        if reply.isAcceptance {
            self = .accepted
        } else if !reply.isGenuine {
            let words = "status \(reply.status) with a body that is not Google's: \"\(reply.excerpt)\""
            self = .unanswered(GatewayFacts.Fault(message: words, hint: "check `gateway` and `proxy`"))
        } else {
            self = reply.failureClass?.mayPass == true ? .postponed(fault) : .refused(fault)
        }
    }
}

extension GatewayFacts.Fault {
    /// What a gateway reports.
    init(_ fault: GatewayFault) { self.init(message: fault.message, hint: fault.hint) }

    /// Describes an error from connecting.
    init(_ error: any Error) {
        switch error {
        case let error as TLSError: self.init(message: error.message, hint: error.hint)
        case let error as ProxyError: self.init(message: error.message, hint: error.hint)
        case let error as SystemError where error.isTimeOut:
            self.init(
                message: "\(error)",
                hint: "check the server and any firewall in between: the connection opens, but gets no answer")
        case _: self.init(message: "\(error)", hint: nil)
        }
    }
}
