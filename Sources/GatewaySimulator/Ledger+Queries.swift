extension Ledger {
    /// The accepted notifications, in order. Requires detail `.everything`.
    public var accepted: [Entry] {
        entries.indices.filter { entries.outcome(at: $0) == .accepted }.map { entries[$0] }
    }

    /// The tokens of the accepted notifications, in order. Requires detail `.everything`.
    public var acceptedTokens: [[UInt8]] { accepted.map(\.token) }

    /// The refused notifications, in order. Requires detail `.everything`.
    public var refused: [Entry] {
        entries.filter {
            switch $0.outcome {
            case .refused, .rejected: true
            case .accepted, .discarded: false
            }
        }
    }

    /// The tokens accepted more than once, with their counts. Requires detail `.everything`.
    public var duplicates: [[UInt8]: Int] {
        acceptedTokens.reduce(into: [:]) { $0[$1, default: 0] += 1 }.filter { $0.value > 1 }
    }

    /// The `apns-id`s accepted more than once, with their counts. Requires detail `.everything`.
    public var duplicateIDs: [String: Int] {
        accepted.compactMap(\.request?.id).reduce(into: [:]) { $0[$1, default: 0] += 1 }.filter { $0.value > 1 }
    }

    /// The requests to the channel management of Apple's API, in order. Requires detail `.everything`.
    public var channelRequests: [OtherRequest] { otherRequests.filter { $0.purpose == .channelManagement } }

    /// The requests for an access token, in order. Requires detail `.everything`.
    public var tokenRequests: [OtherRequest] { otherRequests.filter { $0.purpose == .accessToken } }

    /// The messages that FCM only checked (`validate_only`), in order. Requires detail `.everything`.
    public var checkedMessages: [OtherRequest] { otherRequests.filter { $0.purpose == .check } }

    /// Returns the notifications of a connection, in order. Requires detail `.everything`.
    public func entries(ofConnection number: Int) -> [Entry] {
        entries.filter { $0.connection == number }
    }
}
