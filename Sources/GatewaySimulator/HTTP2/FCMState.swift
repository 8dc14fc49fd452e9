import FCMServing
import OpenSSL
import PushModel

/// What the connections to a simulated FCM share: its rules, and the access tokens that are valid.
struct FCMState: Sendable {
    private(set) var rules = FCMRules()
    var tokens = AccessTokens()
    private var verifiers: [RS256Verifier] = []
    /// The start of each project's window of the quota, and the messages in it.
    private var windows: [String: (start: Moment, messageCount: Int)] = [:]
    private var random = SplitMix(seed: 0x6663_6D)

    /// Creates the state of an FCM that has issued no token and knows no key.
    init(_ rules: FCMRules = FCMRules()) {
        self.rules = rules
    }

    /// Replaces the rules. Access tokens stay valid.
    ///
    /// - Throws: `SimulatorFault` if the key of an account is not valid; the rules stay unchanged.
    mutating func set(_ rules: FCMRules) throws(SimulatorFault) {
        verifiers = try SimulatorFault.wrapping {
            try rules.projects.map { try RS256Verifier(publicKey: $0.publicKey) }
        }
        self.rules = rules
    }

    /// Issues an access token to the account that asks for one in a form.
    ///
    /// - Returns: The body of the answer.
    /// - Throws: The error that refuses the request.
    mutating func issueToken(to request: TokenRequest, at now: WallTime) throws(TokenError) -> [UInt8] {
        guard rules.projects.contains(where: { $0.clientEmail == request.account }) else { throw .unknownAccount }
        guard hasSigned(request) else { throw .badSignature }
        let text = Array("ya29.c.".utf8) + (0..<1_017).map { _ in Self.digits[Int(random.next() & 63)] }
        let grant = AccessTokens.Grant(
            account: request.account, coversSending: request.coversSending,
            expiration: now + rules.accessTokenLifetime)
        tokens.insert(text, grant, at: now)
        let seconds = rules.accessTokenLifetime.components.seconds
        let token = String(decoding: text, as: UTF8.self)
        return Array("{\"access_token\":\"\(token)\",\"expires_in\":\(seconds),\"token_type\":\"Bearer\"}".utf8)
    }

    /// Ends all access tokens at once, as if they had expired.
    mutating func expireTokens(at now: WallTime) {
        tokens.expireAll(at: now)
    }

    /// Whether a key of the account that a request names has signed it.
    private func hasSigned(_ request: TokenRequest) -> Bool {
        zip(rules.projects, verifiers).contains { project, verifier in
            project.clientEmail == request.account && (request.keyID ?? project.keyID) == project.keyID
                && verifier.accepts(request.signature, of: request.signingInput.span)
        }
    }

    /// Checks that a request's access token allows to send for the project that its path names.
    ///
    /// - Returns: The project.
    /// - Throws: The error that refuses the request.
    func checkAccess(of head: SendHead, at now: WallTime) throws(GoogleError) -> FCMProject {
        let grant = try tokens.grant(of: head.accessToken, at: now)
        guard grant.coversSending else { throw .scopeInsufficient }
        let name = head.project ?? ""
        guard let project = rules.projects.first(where: { $0.id == name || String($0.number) == name }),
            project.clientEmail == grant.account, project.maySend
        else { throw .permissionDenied(inProject: name) }
        guard project.isAPIEnabled else { throw .serviceDisabled(inProject: "\(project.number)") }
        return project
    }

    /// Counts a message against its project's quota.
    ///
    /// - Returns: Whether the quota allows it.
    mutating func spendQuota(of project: FCMProject, at now: Moment) -> Bool {
        guard let quota = rules.quota else { return true }
        var window = windows[project.id] ?? (now, 0)
        if now - window.start >= quota.window { window = (now, 0) }
        let isAllowed = window.messageCount < quota.messageCount
        if isAllowed { window.messageCount += 1 }
        windows[project.id] = window
        return isAllowed
    }

    /// Returns the error that depends only on the target.
    func fault(of target: Address) -> GoogleError? {
        let text = String(decoding: target.bytes, as: UTF8.self)
        let isShared = target.kind.isShared
        if rules.throttled.contains(text) { return .quotaExceeded(isShared ? .topic : .device, of: text) }
        guard !isShared else { return nil }
        if rules.withoutPlatformKey.contains(text) { return .thirdPartyAuthError }
        if rules.unregistered.contains(text) { return .unregistered }
        return rules.foreign.contains(text) ? .senderIDMismatch : nil
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
}
