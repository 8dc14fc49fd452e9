import GatewaySimulator

/// Who was accepted how often, as the gateway saw it: what no fault of the daemon's can touch.
struct Books {
    /// One acceptance.
    struct Acceptance: Hashable {
        /// The connection it came on.
        let connection: Int
        /// Which of the daemons' runs the connection was of, from 0.
        let run: Int
        /// Its `apns-id`, over HTTP/2. FCM names each acceptance anew.
        let id: String?
    }

    /// The end of one daemon's work for one app.
    struct Death: Hashable {
        let run: Int
        let app: String
    }

    /// All acceptances of each recipient, in order.
    private(set) var acceptances: [Recipient: [Acceptance]] = [:]
    /// Tokens that are nobody's.
    private(set) var strangerCount = 0
    /// The connections that each daemon had for each app, as far as something was accepted on them.
    private(set) var connections: [Death: Set<Int>] = [:]

    /// How the gateway's connections, jobs and recipients hang together.
    struct Index {
        /// How many connections there had been when each daemon but the first started.
        var starts: [Int] = []
        /// Jobs that were sent a second time as their operator wanted: how often does not count.
        var released: Set<Int> = []
        /// The app that a job is for.
        var app: (Int) -> String = { _ in "weather" }

        func run(of connection: Int) -> Int { starts.count { $0 < connection } }
    }

    private let app: (Int) -> String

    /// - Parameters:
    ///   - entries: what the gateway saw.
    ///   - index: what else is known.
    init(_ entries: [Ledger.Entry], _ index: Index) {
        app = index.app
        for entry in entries where entry.outcome == .accepted {
            guard let recipient = Recipient(token: entry.token) else {
                strangerCount += 1
                continue
            }
            let run = index.run(of: entry.connection)
            connections[Death(run: run, app: index.app(recipient.job)), default: []].insert(entry.connection)
            let acceptance = Acceptance(
                connection: entry.connection, run: run, id: entry.request.flatMap { $0.target == nil ? $0.id : nil })
            if index.released.contains(recipient.job) {
                acceptances[recipient] = [acceptance]
            } else {
                acceptances[recipient, default: []].append(acceptance)
            }
        }
    }

    /// How many acceptances were one too many.
    var doubleCount: Int { acceptances.values.reduce(0) { $0 + $1.count - 1 } }

    /// Those that were accepted again by a later daemon: the earlier one had forgotten them when it died.
    var forgotten: [Death: [Recipient]] {
        repetitions { recipient, first, second in
            first.run < second.run ? Death(run: first.run, app: app(recipient.job)) : nil
        }
    }

    /// Those that the same daemon sent again, by the connection whose end had left them in doubt.
    var resent: [Int: [Recipient]] {
        repetitions { $1.run < $2.run ? nil : $1.connection }
    }

    private func repetitions<Key: Hashable>(
        _ key: (Recipient, Acceptance, Acceptance) -> Key?
    ) -> [Key: [Recipient]] {
        acceptances.reduce(into: [:]) { lists, entry in
            for (first, second) in zip(entry.value, entry.value.dropFirst()) {
                if let key = key(entry.key, first, second) { lists[key, default: []].append(entry.key) }
            }
        }
    }

    /// Recipients that were sent under more than one identifier.
    var renamed: [Recipient] {
        acceptances.filter { Set($1.compactMap(\.id)).count > 1 }.map(\.key)
    }
}
