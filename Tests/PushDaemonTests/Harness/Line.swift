import Foundation

/// A feedback line, or a result file.
struct Line: Decodable, Equatable {
    var v: Int?
    var kind: String?
    var app: String?
    var node: String?
    var job: String?
    var id: String?
    var ref: String?
    var state: String?
    var code: String?
    var duplicate_of: String?
    var duplicate_of_at: String?
    var path: String?
    var why: String?
    var notifications: Int?
    var accepted: Int?
    var rejected: Int?
    var expired: Int?
    var unsent: Int?
    var unknown: Int?
    var sealed: Bool?
    var index: Int?
    var token: String?
    var channel: String?
    var outcome: String?
    var status: Int?
    var reason: String?
    var verdict: String?
    var apns_id: String?
    var unique_id: String?
    var unique_ids: [String: String]?
    var dropped_at: String?
    var claimed_at: String?
    var finished_at: String?
    var gone_since: String?
    var source: String?
    var counts: Counts?
    var diagnostics: [Finding]?
    var indexes: [String: [[Int]]]?

    struct Counts: Decodable, Equatable {
        var notifications: Int
        var accepted: Int
        var rejected: Int
        var expired: Int
        var unsent: Int
        var unknown: Int

        var sum: Int { accepted + rejected + expired + unsent + unknown }
    }

    struct Finding: Decodable, Equatable {
        var severity: String
        var line: Int?
        var column: Int?
        var path: String?
        var message: String
        var hint: String?
    }

    init(_ text: some StringProtocol) throws {
        self = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
    }

    /// The outcomes of a `job` line together.
    var sum: Int { [accepted, rejected, expired, unsent, unknown].compactMap(\.self).reduce(0, +) }
}
