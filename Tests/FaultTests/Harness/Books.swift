import GatewaySimulator

/// Who was accepted how often, as the gateway saw it: what no fault of the daemon's can touch.
struct Books {
    /// One acceptance.
    struct Acceptance: Hashable {
        /// The connection it came on.
        let connection: Int
        /// Its `apns-id`, over HTTP/2.
        let id: String?
    }

    /// All acceptances of each recipient, in order.
    private(set) var acceptances: [Recipient: [Acceptance]] = [:]
    /// Tokens that are nobody's.
    private(set) var strangerCount = 0

    /// - Parameters:
    ///   - entries: what the gateway saw.
    ///   - released: jobs that were sent a second time as their operator wanted: how often does not count.
    init(_ entries: [Ledger.Entry], released: Set<Int> = []) {
        for entry in entries where entry.outcome == .accepted {
            guard let recipient = Recipient(token: entry.token) else {
                strangerCount += 1
                continue
            }
            let acceptance = Acceptance(connection: entry.connection, id: entry.request?.id)
            if released.contains(recipient.job) {
                acceptances[recipient] = [acceptance]
            } else {
                acceptances[recipient, default: []].append(acceptance)
            }
        }
    }

    /// How many acceptances were one too many.
    var doubleCount: Int { acceptances.values.reduce(0) { $0 + $1.count - 1 } }

    /// How many acceptances of each connection came again later: the daemon forgot them when it died.
    var doubleCounts: [Int: Int] {
        acceptances.values.reduce(into: [:]) { counts, list in
            for acceptance in list.dropLast() { counts[acceptance.connection, default: 0] += 1 }
        }
    }

    /// Recipients that were sent under more than one identifier.
    var renamed: [Recipient] {
        acceptances.filter { Set($1.compactMap(\.id)).count > 1 }.map(\.key)
    }
}
