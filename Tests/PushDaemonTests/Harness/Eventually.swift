import Foundation
import Testing

/// What was waited for and did not come about in time.
struct NotInTime: Error, CustomStringConvertible {
    let description: String
}

/// Asks again and again whether another process has done something, because nothing tells when it has.
///
/// - Parameters:
///   - what: what is waited for, in words.
///   - limit: how long at most.
///   - condition: asked every few milliseconds.
/// - Throws: `NotInTime`; whatever `condition` throws.
func eventually(
    _ what: String, within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if try await condition() { return }
        let end = ContinuousClock.now
        guard end < deadline else { throw NotInTime(description: "not within \(limit): \(what)") }
        // A question that takes long, such as one for ten thousand names, leaves most of the machine to the others.
        try await Task.sleep(for: max(.milliseconds(10), start.duration(to: end) * 4))
    }
}

/// Asks again and again for a value until there is one.
///
/// - Throws: `NotInTime`; whatever `value` throws.
func awaited<Value>(
    _ what: String, within limit: Duration = .seconds(30), _ value: () async throws -> Value?
) async throws -> Value {
    var found: Value?
    try await eventually(what, within: limit) {
        found = try await value()
        return found != nil
    }
    return try #require(found)
}

/// Whether the long sweeps are to run too (`make test-full`).
let isFullRun = ProcessInfo.processInfo.environment["PUSHSPOOL_FULL"] == "1"
