import Foundation

/// What the checks need of a feedback line.
struct FeedbackLine: Decodable, Hashable {
    var kind: String
    var job: String?
    var id: String?
    var state: String?
    var code: String?
    var path: String?
    var notifications: Int?
    var accepted: Int?
    var rejected: Int?
    var expired: Int?
    var unsent: Int?
    var unknown: Int?
    var index: Int?
    var outcome: String?
    var dropped_at: String?

    init(_ text: some StringProtocol) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }

    /// The outcomes of a `job` line, added up.
    var sum: Int { [accepted, rejected, expired, unsent, unknown].reduce(0) { $0 + ($1 ?? 0) } }

    /// What must be the same in every line of one job, however often it is told.
    var counts: [Int?] { [notifications, accepted, rejected, expired, unsent, unknown] }
}
