package import Foundation

/// What was waited for and did not come about in time.
package struct NotInTime: Error, CustomStringConvertible {
    /// What it was.
    package let description: String

    /// A fault in these words.
    package init(description: String) {
        self.description = description
    }
}

/// How long a test waits for what must happen. Only a test that fails waits that long: on a busy machine everything may take
/// a hundred times as long as on an idle one.
package let patience = Duration.seconds(300)

/// Asks again and again whether another process has done something, because nothing tells when it has.
///
/// - Parameters:
///   - what: what is waited for, in words.
///   - limit: how long at most.
///   - condition: asked every few milliseconds.
/// - Throws: `NotInTime`; whatever `condition` throws.
package func eventually(
    _ what: @autoclosure () throws -> String, within limit: Duration = patience,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if try await condition() { return }
        let end = ContinuousClock.now
        guard end < deadline else { throw NotInTime(description: "not within \(limit): \(try what())") }
        // A question that takes long, such as one for ten thousand names, leaves most of the machine to the others; one
        // that only had to wait for a busy machine must not make the answer come too late for the test.
        try await Task.sleep(for: min(max(.milliseconds(10), start.duration(to: end) * 4), .milliseconds(250)))
    }
}

/// Asks again and again whether a process has done something, which it cannot do once it has ended.
///
/// - Parameters:
///   - what: what is waited for, in words.
///   - process: the process.
///   - limit: how long at most.
///   - condition: asked every few milliseconds, and once after the end.
/// - Throws: `NotInTime`; whatever `condition` throws.
package func eventually(
    _ what: @autoclosure () throws -> String, of process: Process, within limit: Duration = patience,
    _ condition: () throws -> Bool
) async throws {
    try await eventually(try what(), within: limit) {
        let hasEnded = !process.isRunning
        if try condition() { return true }
        guard !hasEnded else { throw NotInTime(description: "ended without \(try what())") }
        return false
    }
}

/// Asks again and again for a value until there is one.
///
/// - Parameters:
///   - what: what is waited for, in words.
///   - limit: how long at most.
///   - value: asked every few milliseconds.
/// - Returns: The value.
/// - Throws: `NotInTime`; whatever `value` throws.
package func awaited<Value>(
    _ what: @autoclosure () throws -> String, within limit: Duration = patience,
    _ value: () async throws -> Value?
) async throws -> Value {
    var found: Value?
    try await eventually(try what(), within: limit) {
        found = try await value()
        return found != nil
    }
    guard let found else { throw NotInTime(description: try what()) }
    return found
}

/// Lets time go by before something is killed or cut: the moment is what the test is about.
///
/// - Throws: `CancellationError`.
package func moment(_ length: Duration) async throws {
    try await Task.sleep(for: length)
}
