import Foundation

/// Whether the long sweeps are to run too (`make test-full`).
package let isFullRun = ProcessInfo.processInfo.environment["PUSHSPOOL_FULL"] == "1"

/// How many trials of a kind are made.
///
/// - Parameters:
///   - quick: in `make test`.
///   - full: in `make test-full`.
/// - Returns: the one or the other.
package func trials(_ quick: Int, full: Int) -> Int { isFullRun ? full : quick }

/// The seed of a run's random numbers: that of the environment (`PUSHSPOOL_SEED`), so that a failure can be repeated,
/// or a new one.
package let seed =
    ProcessInfo.processInfo.environment["PUSHSPOOL_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...99_999)

/// Prints one line of a report on faults, so that a run that is well can be read, too.
package func report(_ line: String) {
    print("fault: \(line)")
}
