import JobFormat
import JobOperations
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// Looks at files of `new/` and opens them together with those that will have their turns next, where each call waits for a
/// file server. Elsewhere one by one.
final class FilesAhead {
    private let intake: Shared<Intake>
    private let held: HeldJobs
    private let spool: AppSpool
    private var seen: [FileName: SeenFile] = [:]
    private var opened: [FileName: OpenJob] = [:]

    init(_ intake: Shared<Intake>, _ held: HeldJobs, in spool: AppSpool) {
        (self.intake, self.held, self.spool) = (intake, held, spool)
    }

    /// Returns the state of a file, at most as old as the round; `nil` if it does not exist.
    func look(_ name: FileName) throws(SystemError) -> SeenFile? {
        if spool.waitsForServer, seen[name] == nil {
            seen = spool.lookAhead([name] + intake.value.upcoming(Claimer.groupLimit).looks)
        }
        if let file = seen.removeValue(forKey: name) { return file }
        return try spool.look(name)
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - count: How many others to open at most.
    ///   - lanes: Their lanes.
    ///   - longest: The most bytes of one of them.
    /// - Returns: What was opened, and whether the remainders in `hold/` are at least as new.
    /// - Throws: `SystemError`: it cannot be opened, or `hold/` not be read.
    func open(
        _ name: FileName, with count: Int, in lanes: @autoclosure () -> LaneSet, upTo longest: @autoclosure () -> Int64
    ) throws(SystemError) -> (opening: Opening, isFresh: Bool) {
        if spool.waitsForServer, opened[name] == nil {
            let others = intake.value.upcoming(count, in: lanes(), longest: longest()).openings
            let more = spool.openAhead([name] + others.filter { opened[$0] == nil })
            // Another node may have held and released one of them since the last time. The files are closed if that is unknown.
            if !more.isEmpty { try held.refresh() }
            opened.merge(more) { $1 }
        }
        if let job = opened.removeValue(forKey: name) { return (.opened(job), true) }
        return (try spool.open(name), false)
    }

    /// Forgets the files whose turns have not come: in the next round they may have changed.
    func endRound() {
        let left = Array(opened.values)
        (seen, opened) = ([:], [:])
        spool.close(consume left)
    }
}
