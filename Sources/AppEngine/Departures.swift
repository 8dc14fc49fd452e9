import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Files that fail without a claim, from their line until their move is for good: refused ones of `new/`, and held ones
/// that operators end. ``Publisher`` adds them to the rounds of ``PublicationPlan``.
final class Departures {
    private let parts: AppParts
    private let context: AppContext
    /// Files to be moved as soon as their lines are published.
    private var waiting: [JobID: Departure] = [:]
    /// Held files that were moved; a power loss may undo that until the next sync.
    private var moved: [JobID: Departure] = [:]
    /// Files of `new/` whose lines are published and that may not be moved. Their lines are not written again.
    private var stuck: [FileName: Departure] = [:]

    init(_ parts: AppParts) { (self.parts, context) = (parts, parts.context) }

    /// Adds a file, whose line is in memory or published.
    func add(_ departure: Departure) { waiting[departure.id] = departure }

    /// Whether a file waits to be moved.
    func isWaiting(_ id: JobID) -> Bool { waiting[id] != nil }

    /// Whether an operator has ended the file with this name in `hold/`.
    func isWaiting(inHold name: FileName) -> Bool {
        waiting.values.contains { $0.origin == .hold && $0.file.name == name }
    }

    /// Whether a file waits to be moved, or its move is not for good yet.
    func isUnderWay(_ id: JobID) -> Bool { waiting[id] != nil || moved[id] != nil }

    /// Removes and returns a file that could not be moved before, if it is still the same.
    func takeStuck(_ file: SeenFile) -> Departure? {
        guard let departure = stuck.removeValue(forKey: file.name), departure.file == file else { return nil }
        return departure
    }

    /// The results of files, to be staged before those are moved.
    func drafts(of ids: ArraySlice<JobID>) -> [ResultDraft] { ids.compactMap { waiting[$0]?.draft } }

    /// Moves files whose lines are published and whose results are staged.
    ///
    /// - Parameters:
    ///   - ids: The files.
    ///   - note: Called with each failure.
    /// - Returns: The files that are still to be moved, and those for which nothing is left to do.
    func move(
        _ ids: ArraySlice<JobID>, noting note: (any Error, FailureLog.Step, Logger.Metadata) -> Void
    ) -> PublicationPlan.Result {
        var (failed, gone): ([JobID], [JobID]) = ([], [])
        for departure in ids.compactMap({ waiting[$0] }) {
            do throws(SystemError) {
                if try !move(departure) { gone.append(departure.id) }
            } catch {
                failed.append(departure.id)
                note(error, .archive(.failed), [LogKey.job: "\(departure.file.name)"])
            }
        }
        return .doneBut(failed: failed, gone: gone)
    }

    /// Makes known that the moves of these files survive a power loss.
    func noteSynced(_ ids: [JobID]) {
        for departure in ids.compactMap({ moved.removeValue(forKey: $0) }) {
            parts.held.forget(departure.file.status, isMoved: true)
        }
    }

    /// Returns whether the file is in its archive; if not, nothing is left to do for it.
    private func move(_ departure: Departure) throws(SystemError) -> Bool {
        let (outcome, name) = (try context.spool.move(departure), departure.file.name)
        let answer: IntakeAnswer
        var place: ArchivePlace?
        switch outcome {
        case .forbidden(let error):
            guard departure.origin == .new else { throw error }
            (stuck[name], answer) = (departure, .stuck)
        case .changed(let newName): answer = .returned(newName)
        case .gone: answer = .gone
        case .moved(let there): (place, answer) = (there, .moved)
        }
        waiting[departure.id] = nil
        switch departure.origin {
        case .new: parts.intake.value.answer(name, answer, at: .now)
        case .hold:
            context.spool.notices.noteReleased(name)
            if place != nil { moved[departure.id] = departure }
        }
        // The line of a held file says that it has ended, even if it was removed meanwhile.
        if place != nil || departure.origin == .hold { reportEnd(of: departure, at: place) }
        return place != nil
    }

    private func reportEnd(of departure: Departure, at place: ArchivePlace?) {
        let (conclusion, name) = (departure.report.conclusion, departure.report.identity.name)
        context.daemon.meter.count {
            if let code = conclusion.code, departure.endedCount > 0 {
                $0.note(.withdrawn(code), count: departure.endedCount, at: .now)
            }
            $0.noteEnd(conclusion, after: nil)
        }
        var metadata: Logger.Metadata = [LogKey.job: "\(name)", LogKey.code: "\(conclusion.code?.rawValue ?? "")"]
        if let place { metadata[LogKey.path] = "\(place.path(of: context.name))" }
        // An operator knows already that the job was ended.
        context.logger.log(level: departure.origin == .hold ? .notice : .warning, "job failed", metadata: metadata)
    }
}
