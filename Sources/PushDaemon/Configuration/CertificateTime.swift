package import APNSModel
import OpenSSL

/// When a certificate is valid.
package struct CertificateTime: Hashable, Sendable {
    /// Its first second.
    package let start: WallTime
    /// Its last second.
    package let end: WallTime

    /// Creates the time from `start` to `end`; none if `end` is earlier.
    package init(start: WallTime, end: WallTime) {
        (self.start, self.end) = (start, end)
    }

    /// Creates the time of a certificate, cut to what a `WallTime` can tell.
    init(_ facts: CertificateFacts) {
        self.init(start: WallTime(epochSeconds: facts.notBefore), end: WallTime(epochSeconds: facts.notAfter))
    }

    /// Whether the certificate is valid now.
    package func includes(_ now: WallTime) -> Bool {
        start <= now && now.epochSeconds <= end.epochSeconds
    }

    /// How long until it begins; `nil` if it has begun.
    package func wait(from now: WallTime) -> Duration? {
        start > now ? start - now : nil
    }
}
