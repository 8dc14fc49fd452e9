package import PushModel

/// The tokens that the gateway lately reported as gone, so that a client learns it at once.
///
/// Forgets a token between half and the whole of the lifetime after it was reported: then the gateway decides again. Holds at
/// most `capacity` tokens, and forgets the older half beyond that.
package struct KnownGone: Sendable {
    private struct Key: Hashable {
        let app: String
        let token: [UInt8]
    }

    private let lifetime: Duration
    private let capacity: Int
    private var young: [Key: Int64] = [:]
    private var old: [Key: Int64] = [:]
    private var turn = WallTime(epochSeconds: 0)

    /// Creates an empty list. With a lifetime of zero it stays empty.
    package init(lifetime: Duration, capacity: Int = 1 << 20) {
        (self.lifetime, self.capacity) = (lifetime, max(2, capacity))
    }

    /// Whether tokens are remembered at all.
    package var isInUse: Bool { lifetime > .zero }

    /// How many tokens are remembered.
    package var count: Int { young.count + old.count }

    /// Remembers a token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - app: Its app.
    ///   - since: Since when it is gone; `nil`: the gateway did not say.
    ///   - now: When this was heard.
    package mutating func note(_ token: [UInt8], of app: String, since: WallTime?, at now: WallTime) {
        guard isInUse else { return }
        if now - turn >= lifetime / 2 || young.count >= capacity / 2 {
            old = now - turn >= lifetime ? [:] : young
            (young, turn) = ([:], now)
        }
        young[Key(app: app, token: token)] = (since ?? now).nanoseconds / 1_000_000
    }

    /// Returns since when a token is gone, in milliseconds since 1970; `nil` if that is not known.
    package func since(_ token: [UInt8], of app: String, at now: WallTime) -> Int64? {
        guard count > 0 else { return nil }
        let key = Key(app: app, token: token)
        let age = now - turn
        if age < lifetime, let since = young[key] { return since }
        return age < lifetime / 2 ? old[key] : nil
    }
}
