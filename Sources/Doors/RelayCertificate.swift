import Document
import LinuxIO
import OpenSSL
import PushModel
import ServiceProcess

/// A certificate for the relay, for clients that always connect to Apple's host, and the authority that such clients trust.
///
/// The authority is for the hosts of its first certificate alone, whoever has its key. Its files are never overwritten.
package struct RelayCertificate {
    /// The authority's certificate and key.
    package static let authorityKeyName = "door-ca.key"
    /// The authority's certificate, for clients.
    package static let authorityName = "door-ca.pem"
    /// The relay's certificate and key.
    package static let name = "door.pem"

    /// The authority, and when it expires.
    package let authority: String
    /// The relay's certificate, and when it expires.
    package let certificate: String
    /// Whether the authority was made earlier, so that clients know it.
    package let isRenewed: Bool

    /// How long an authority is valid, and a certificate, in seconds.
    private static let (authorityLifetime, lifetime) = (3650 * 86_400 as Int64, 397 * 86_400 as Int64)
    private static let byteLimit = 1 << 20

    /// Makes an authority in a folder, or takes up the one that is there, and has it issue a certificate with a new key in place
    /// of an earlier one. Blocks.
    ///
    /// - Parameters:
    ///   - hosts: The DNS names that clients connect to; at least one.
    ///   - path: The folder, which only the doors' user should be able to enter.
    /// - Throws: `Diagnostic`: a name or a file is at fault; `TLSError`: an authority's file is at fault, or the authority is not
    ///   for these hosts; `SystemError`: the folder cannot be read or written. What there was is intact.
    package init(for hosts: [String], in path: String) throws {
        let folder = try Directory.open(path: path)
        let now = WallTime.now.epochSeconds
        for host in hosts where !Self.isHost(host) {
            throw Diagnostic(
                "\(Diagnostic.quoted(host)) is no DNS name", hint: "give names such as api.push.apple.com, no addresses"
            )
        }
        let known = try Self.knownAuthority(in: folder, at: now)
        let authority = try known ?? Self.makeAuthority(for: hosts, in: folder, at: now)
        if let text = try Self.contents(of: Self.name, in: folder) {
            guard try CertificateFacts.first(inPEM: text)?.issuer == authority.facts.commonName else {
                throw Diagnostic(
                    "\(path)/\(Self.name) has another authority than \(Self.authorityKeyName)",
                    hint: "move it away, or choose another folder")
            }
        }
        var plan = CertificatePlan.server(hosts)
        plan.commonName = String(plan.commonName.prefix(64))
        plan.validity = now - 3_600...min(now + Self.lifetime, authority.facts.notAfter)
        let identity = try authority.issue(plan)
        if try Self.contents(of: Self.authorityName, in: folder) == nil {
            let text = try authority.certificatePEM()
            try folder.write(text, toNew: Array(Self.authorityName.utf8), mode: 0o644, for: .other)
        }
        try folder.replace(Array(Self.name.utf8), with: try identity.certificatePEM() + identity.keyPEM())
        self.authority = "\(authority)"
        (certificate, isRenewed) = ("\(identity.credentials)", known != nil)
    }

    /// Whether a text may be a DNS name: no address and no wildcard. OpenSSL refuses other characters.
    private static func isHost(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return !labels.contains("") && !text.contains { ":*".contains($0) } && labels.last.flatMap { Int($0) } == nil
    }

    private static func knownAuthority(in folder: Directory, at now: Int64) throws -> CertificateAuthority? {
        guard let text = try contents(of: authorityKeyName, in: folder) else {
            for name in [authorityName, name] where try contents(of: name, in: folder) != nil {
                throw Diagnostic(
                    "\(folder.path)/\(name) is there, but \(authorityKeyName) is not",
                    hint: "put that back, or move both away, or choose another folder")
            }
            return nil
        }
        let authority = CertificateAuthority(try Credentials.pem(certificate: text))
        guard authority.facts.isValid(at: now) else {
            throw Diagnostic(
                "\(folder.path)/\(authorityKeyName): \(authority)",
                hint: "move it and \(authorityName) away, and have all clients trust the new authority")
        }
        return authority
    }

    private static func makeAuthority(
        for hosts: [String], in folder: Directory, at now: Int64
    ) throws -> CertificateAuthority {
        let authority = try CertificateAuthority(
            commonName: "pushspool-door \(String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16))",
            onlyFor: hosts, validity: now - 3_600...now + authorityLifetime)
        let text = try authority.certificatePEM() + authority.keyPEM()
        try folder.write(text, toNew: Array(authorityKeyName.utf8), mode: 0o600, for: .other)
        return authority
    }

    private static func contents(of name: String, in folder: Directory) throws -> [UInt8]? {
        guard try folder.status(of: Array(name.utf8)) != nil else { return nil }
        return try folder.contents(of: Array(name.utf8), limit: byteLimit) ?? []
    }
}
