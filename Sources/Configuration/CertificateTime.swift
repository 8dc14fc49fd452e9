import OpenSSL
package import PushModel

/// The validity period of a certificate.
package struct CertificateTime: Hashable, Sendable {
    /// The first second of validity.
    package let start: WallTime
    /// The last second of validity.
    package let end: WallTime

    /// Creates the period from `start` to `end`. It is empty if `end` is earlier.
    package init(start: WallTime, end: WallTime) {
        (self.start, self.end) = (start, end)
    }

    /// Creates the period of a certificate, clamped to the range of `WallTime`.
    init(_ facts: CertificateFacts) {
        self.init(start: WallTime(epochSeconds: facts.notBefore), end: WallTime(epochSeconds: facts.notAfter))
    }

    /// Returns whether the certificate is valid at `now`.
    package func includes(_ now: WallTime) -> Bool {
        start <= now && now.epochSeconds <= end.epochSeconds
    }

    /// Returns the time until the period begins; `nil` if it has begun.
    package func wait(from now: WallTime) -> Duration? {
        start > now ? start - now : nil
    }
}
