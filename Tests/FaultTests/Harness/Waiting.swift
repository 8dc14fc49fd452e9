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
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if try await condition() { return }
        let end = ContinuousClock.now
        guard end < deadline else { throw NotInTime(description: "not within \(limit): \(what())") }
        try await Task.sleep(for: max(.milliseconds(10), start.duration(to: end) * 4))
    }
}

/// Lets time go by before something is killed or cut: the moment is what the test is about.
func moment(_ length: Duration) async throws {
    try await Task.sleep(for: length)
}

/// Whether the long sweeps are to run too (`make test-full`).
let isFullRun = ProcessInfo.processInfo.environment["PUSHSPOOL_FULL"] == "1"

/// How many trials of a kind are made.
///
/// - Parameters:
///   - quick: in `make test`.
///   - full: in `make test-full`.
/// - Returns: the one or the other.
func trials(_ quick: Int, full: Int) -> Int { isFullRun ? full : quick }

/// The seed of a run's random numbers: that of the environment (`PUSHSPOOL_SEED`), so that a failure can be repeated,
/// or a new one.
let seed = ProcessInfo.processInfo.environment["PUSHSPOOL_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...99_999)

/// Prints one line of a report, so that a run that is well can be read, too.
func report(_ line: String) {
    print("fault: \(line)")
}

/// Lets a few trials at a time through: each runs a daemon, and the machine has only so many cores; but most of a trial
/// is waiting.
actor Turnstile {
    static let trials = Turnstile(places: 5)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    /// Does something when there is a place, which nobody else has meanwhile.
    nonisolated func passing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await enter()
        do {
            let value = try await body()
            await leave()
            return value
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        guard places == 0 else { return places -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
