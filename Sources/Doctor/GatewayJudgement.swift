import LinuxIO
import PushModel

/// Evaluates the connection to a gateway. Reports the first step that failed, and nothing about later steps.
struct GatewayJudgement {
    /// The app.
    let app: String
    /// The facts.
    let facts: GatewayFacts

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.gateway, of: app)
        if facts.isCutShort {
            noteTimeLimit("the time limit passed", in: &book)
            return book.findings
        }
        guard noteLookup(in: &book), noteAttempts(in: &book), noteHandshake(in: &book) else { return book.findings }
        if let trial = facts.trial { note(trial, in: &book) } else { noteConsent(in: &book) }
        return book.findings
    }

    private func noteTimeLimit(_ message: String, in book: inout FindingBook) {
        book.warn(
            "\(facts.role) \(facts.gateway) was not fully tested: \(message)",
            hint: "set a longer --timeout, or name the app to test it alone")
    }

    private func note(_ trial: GatewayFacts.Trial, in book: inout FindingBook) {
        switch trial {
        case .accepted: book.ok("\(facts.gateway) accepts the service account: it has validated a message to nobody")
        case .postponed(let fault):
            book.warn(
                "\(facts.gateway) knows the service account, but takes no message now: \(fault.message)",
                hint: fault.hint ?? "see the quota in the Google Cloud console; the daemon tries again by itself")
        case .refused(let fault):
            book.fault(
                "\(facts.gateway) refuses the app: \(fault.message)",
                hint: fault.hint ?? "check credentials.service_account and project")
        case .unanswered(let fault):
            book.fault(fault.message, hint: fault.hint ?? "check `gateway`, `token_gateway`, `proxy` and the network")
        case .cutShort(let fault): noteTimeLimit(fault.message, in: &book)
        }
    }

    private var place: String {
        facts.proxy.map { "the proxy \($0)" } ?? "\(facts.role) \(facts.gateway)"
    }

    /// The configuration key that says where to connect.
    private var key: String { facts.proxy == nil ? "gateway" : "proxy" }

    private func noteLookup(in book: inout FindingBook) -> Bool {
        guard let fault = facts.lookup else { return true }
        book.fault(
            fault.message,
            hint: fault.hint ?? "check `\(key)`, and the resolver with: getent hosts \(facts.next.host)")
        return false
    }

    private func noteAttempts(in book: inout FindingBook) -> Bool {
        let failed = facts.attempts.compactMap { attempt in attempt.error.map { (attempt.address, $0) } }
        for attempt in facts.attempts where attempt.error == nil {
            book.ok("\(place) answers at \(attempt.address) in \(milliseconds(attempt.time))")
        }
        guard !failed.isEmpty else { return !facts.attempts.isEmpty }
        let words = failed.map { "\($0.0): \($0.1.reason)" }.joined(separator: "; ")
        guard failed.count == facts.attempts.count else {
            book.warn(
                "some addresses of \(place) do not answer: \(words)",
                hint: "fix the route or the DNS entry; until then, connecting may take a quarter of a second longer")
            return true
        }
        book.fault("cannot connect to \(place): \(words)", hint: routeHint(failed.map(\.1)))
        return false
    }

    private func routeHint(_ errors: [SystemError]) -> String {
        if errors.contains(where: \.isConnectionRefused) {
            return "check host and port of `\(key)`, and that a server is running there"
        }
        if errors.contains(where: \.isTimeOut) {
            return "let the firewall pass TCP to \(facts.next)"
        }
        return "check the route to \(facts.next), and `\(key)`"
    }

    private func noteHandshake(in book: inout FindingBook) -> Bool {
        if let fault = facts.handshake {
            book.fault(
                "\(facts.role) \(facts.gateway): \(fault.message)",
                hint: fault.hint ?? "check host and port of `\(key)`, and which server listens there")
            return false
        }
        guard let agreement = facts.agreement else { return false }
        book.ok(
            "\(agreement.version) with \(facts.gateway) in \(milliseconds(agreement.time)), certificate "
                + "\"\(agreement.server)\" valid until \(agreement.notAfter.day)")
        guard facts.wantsHTTP2, agreement.applicationProtocol != "h2" else { return true }
        book.fault(
            "\(facts.role) \(facts.gateway) does not speak HTTP/2: it chose "
                + "\(agreement.applicationProtocol ?? "no protocol") in the handshake (ALPN)",
            hint: "check the gateway's host and port, or set protocol: binary; a proxy that intercepts TLS may hide h2")
        return false
    }

    private func noteConsent(in book: inout FindingBook) {
        switch facts.consent {
        case nil: break
        case .given? where facts.usesTokens:
            book.ok("TLS handshake with \(facts.gateway) succeeded; provider tokens are not tested")
        case .given?: book.ok("\(facts.gateway) accepts the app's certificate in the TLS handshake")
        case .silent? where facts.usesTokens:
            book.ok("\(facts.gateway) did not refuse the connection; provider tokens are not tested")
        case .silent?: book.ok("\(facts.gateway) did not refuse the app's certificate")
        case .refused(let fault)?:
            book.fault(
                "\(facts.gateway) refuses the app: \(fault.message)",
                hint: fault.hint ?? "check certificate, environment and topic")
        case .closed?:
            book.fault(
                "\(facts.gateway) closed the connection right after the handshake",
                hint: "check whether the certificate is for the other environment, or was revoked")
        }
    }

    private func milliseconds(_ time: Duration) -> String { "\(Int((time / .milliseconds(1)).rounded(.up))) ms" }
}
