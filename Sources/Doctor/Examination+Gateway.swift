import Configuration
import Gateways
import LinuxIO
import OpenSSL
import PushHTTP2
import PushModel
import SecureTransport
import ServiceProcess

extension Examination {
    /// The most gateways tried at a time.
    private static let gatewayLimit = 16
    /// The most addresses tried for one gateway.
    private static let addressLimit = 8
    /// The time limit for a name lookup, and for connecting to one address.
    private static let stepLimit = Duration.seconds(5)
    /// How long to wait for a gateway to reject a certificate after the handshake.
    private static let consentLimit = Duration.milliseconds(300)

    /// Tries the gateways of all apps.
    func examineGateways(_ apps: [ConfiguredApp]) async -> [DoctorFinding] {
        let apps = apps.sorted { $0.configuration.name < $1.configuration.name }
        return await withTaskGroup(of: [DoctorFinding].self) { group in
            var rest = apps[...]
            var findings: [DoctorFinding] = []
            for _ in 0..<Self.gatewayLimit {
                guard let app = rest.popFirst() else { break }
                group.addTask { await self.examine(app) }
            }
            while let found = await group.next() {
                findings += found
                guard let app = rest.popFirst() else { continue }
                group.addTask { await self.examine(app) }
            }
            return findings.sorted { ($0.app ?? "") < ($1.app ?? "") }
        }
    }

    private func examine(_ app: ConfiguredApp) async -> [DoctorFinding] {
        let configuration = app.configuration
        var facts = GatewayFacts(
            role: "the gateway", gateway: configuration.endpoint.address, proxy: configuration.requests?.proxy?.address,
            wantsHTTP2: configuration.requests != nil)
        switch app.credentials {
        case .certificate: break
        case .token, .serviceAccount: facts.usesTokens = true
        }
        await connect(&facts)
        if !facts.isCutShort, facts.attempts.contains(where: { $0.error == nil }) {
            var place = SecureEndpoint(
                host: configuration.endpoint.address, serverName: configuration.endpoint.serverName,
                context: app.context)
            place.proxy = configuration.requests?.proxy
            await shakeHands(with: place, within: configuration.timeouts.connect, &facts)
            if facts.agreement?.applicationProtocol == "h2", let trial = app.accountTrial(on: reactor) {
                facts.trial = await outcome(of: trial, within: configuration.timeouts.answer)
            }
        }
        var findings = GatewayJudgement(app: configuration.name, facts: facts).findings
        guard let service = configuration.binary?.feedbackService?.endpoint else { return findings }
        // Connect without a handshake: the feedback service sends its list to every client that completes one, and then
        // deletes it.
        var other = GatewayFacts(
            role: "the feedback service", gateway: service.address, proxy: nil, wantsHTTP2: false)
        await connect(&other)
        findings += GatewayJudgement(app: configuration.name, facts: other).findings
        return findings
    }

    /// Asks FCM about a message to nobody. The token endpoint has half of the time that is left, and the gateway the rest.
    func outcome(of trial: AccountTrial, within timeout: Duration) async -> GatewayFacts.Trial {
        var (start, limit) = (ContinuousClock.now, soon(timeout, part: 0.5))
        do {
            let authorization = try await trial.authorization(until: limit)
            (start, limit) = (.now, soon(timeout))
            return GatewayFacts.Trial(try await trial.reply(with: authorization, until: limit))
        } catch let refusal as AccountRefusal {
            return .refused(GatewayFacts.Fault(refusal.fault))
        } catch {
            let fault = (error as? GatewayFault).map { GatewayFacts.Fault($0) } ?? GatewayFacts.Fault(error)
            // In less time than that, no answer says nothing about the server.
            let isCutShort = limit <= .now && start.duration(to: limit) < min(timeout, Self.stepLimit)
            return isCutShort ? .cutShort(fault) : .unanswered(fault)
        }
    }

    // MARK: Names and routes

    /// Whether work that began at `start`, and has failed, had less time than it may need.
    private func isCutShort(since start: ContinuousClock.Instant, _ need: Duration = Examination.stepLimit) -> Bool {
        isOver && start.duration(to: .now) < min(need, Self.stepLimit)
    }

    private func connect(_ facts: inout GatewayFacts) async {
        var start = ContinuousClock.now
        let addresses: [SocketAddress]
        do {
            addresses = try await AddressLookup.addresses(of: facts.next, on: reactor, until: soon(Self.stepLimit))
        } catch {
            facts.lookup = GatewayFacts.Fault(error)
            facts.isCutShort = isCutShort(since: start)
            return
        }
        start = .now
        let limit = soon(Self.stepLimit)
        facts.attempts = await withTaskGroup(of: (Int, GatewayFacts.Attempt).self) { group in
            for (place, address) in addresses.prefix(Self.addressLimit).enumerated() {
                group.addTask { (place, await self.attempt(address, until: limit)) }
            }
            var attempts: [(Int, GatewayFacts.Attempt)] = []
            for await attempt in group { attempts.append(attempt) }
            return attempts.sorted { $0.0 < $1.0 }.map(\.1)
        }
        facts.isCutShort = isCutShort(since: start) && facts.attempts.allSatisfy { $0.error != nil }
    }

    private func attempt(_ address: SocketAddress, until limit: ContinuousClock.Instant) async -> GatewayFacts.Attempt {
        let start = ContinuousClock.now
        var failure: SystemError?
        do {
            _ = try await StreamSocket.connect(to: address, on: reactor, until: limit)
        } catch let error as ConnectError {
            failure = error.attempts.first ?? .timedOut("connect", address.description)
        } catch let error as SystemError {
            failure = error
        } catch {
            failure = .timedOut("connect", address.description)
        }
        return GatewayFacts.Attempt(address: address, time: ContinuousClock.now - start, error: failure)
    }

    // MARK: TLS

    private func shakeHands(
        with place: SecureEndpoint, within timeout: Duration, _ facts: inout GatewayFacts
    ) async {
        let start = ContinuousClock.now
        do {
            let stream = try await SecureStream.connect(to: place, on: reactor, until: soon(timeout))
            let server = stream.facts.peerCertificate
            facts.agreement = GatewayFacts.HandshakeResult(
                version: stream.facts.version.map { "\($0)" } ?? "TLS",
                applicationProtocol: stream.facts.applicationProtocol, server: server?.displayName ?? "unnamed",
                notAfter: WallTime(epochSeconds: server?.notAfter ?? 0), time: ContinuousClock.now - start)
            facts.consent = await consent(of: stream)
            _ = await stream.shutdown(until: .now + .seconds(1))
        } catch let error as TLSError where error.isOwnCertificateRefused {
            facts.handshake = GatewayFacts.Fault(message: "refuses the app: \(error.message)", hint: error.hint)
        } catch {
            facts.handshake = GatewayFacts.Fault(error)
            facts.isCutShort = isCutShort(since: start, timeout)
        }
    }

    private func consent(of stream: SecureStream) async -> GatewayFacts.ClientAuthentication {
        do {
            if try await stream.awaitConfirmation(until: soon(Self.consentLimit)) { return .given }
            var bytes: [UInt8] = []
            if case .closed = try stream.read(into: &bytes) { return .closed }
            return .silent
        } catch let error as TLSError {
            return .refused(GatewayFacts.Fault(error))
        } catch let error as SystemError where error.isConnectionReset {
            return .closed
        } catch {
            return .silent
        }
    }
}
