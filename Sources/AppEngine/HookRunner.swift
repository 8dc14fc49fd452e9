import Configuration
import JobFormat
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore
import Synchronization

/// Runs an app's hook for each feedback file, in name order, one at a time.
final class HookRunner {
    /// How long a hook may take to exit after SIGTERM.
    private static let farewell = Duration.seconds(5)
    /// The exit status of a hook that refuses the file for good (EX_DATAERR of sysexits.h).
    private static let refusal: Int32 = 65

    private let context: AppContext
    private let room: JournalRoom
    /// Signalled when the hook's wait begins or ends.
    private let intakeWakeup: Wakeup
    /// Signalled when there is a file for the hook, or the hook has changed.
    private let wakeup: Wakeup
    /// Stores the name of the last file that the hook is done with.
    private let mark: HookMark
    private var hook: Hook?
    /// The files for the hook; `nil` without a hook.
    private var queue: HookQueue?
    /// Why the hook cannot be started.
    private var startTrouble: SpoolStatus.HookTrouble?
    /// The foreign files that were skipped and reported.
    private var strangers: Set<FileName> = []

    /// Creates a runner that does nothing until `run`.
    ///
    /// - Parameters:
    ///   - hook: The app's hook, if it has one.
    ///   - context: The app's context.
    ///   - room: Records that the hook waits for hooks of other apps.
    ///   - intakeWakeup: Signalled when that wait begins or ends.
    init(_ hook: Hook?, _ context: AppContext, _ room: JournalRoom, orSignal intakeWakeup: Wakeup) {
        (self.hook, self.context, self.room, self.intakeWakeup) = (hook, context, room, intakeWakeup)
        wakeup = Wakeup(on: context.daemon.reactor)
        mark = HookMark(of: context.name, in: context.daemon.markFolder)
    }

    /// Uses another hook from the next file on.
    func configure(_ hook: Hook?) {
        // A new hook does not wait because the previous one failed.
        if hook != self.hook { (queue, startTrouble) = (nil, nil) }
        self.hook = hook
        wakeup.signal()
    }

    /// Runs the app's hook until the task is cancelled or the app has none any more.
    @inline(never) func run() async {
        while !Task.isCancelled, let hook {
            guard queue != nil || begin() else {
                await wakeup.wait(until: .now + HookQueue.ceiling)
                continue
            }
            switch queue?.next(at: .now) {
            case .list: await list()
            case .run(let file): await run(hook, file)
            case .wait(let moment): await wakeup.wait(until: moment?.instant)
            case nil: continue
            }
        }
    }

    /// Whether no file waits for the hook, as far as is known.
    var isThrough: Bool {
        hook == nil || queue?.isEmpty == true
    }

    /// What keeps the hook from taking files; `nil` if nothing does.
    var trouble: SpoolStatus.HookTrouble? {
        guard hook != nil else { return nil }
        return if let queue { queue.trouble } else { startTrouble }
    }

    /// The last file that the hook is done with; `nil` if it is not known.
    var last: FileName? { hook == nil ? nil : queue?.last }

    /// Starts before anything is published. Later names must follow the mark, or the hook would not get those files.
    func prepare() {
        if hook != nil { _ = begin() }
    }

    /// Records that a file was published.
    func note(_ file: FileName) {
        guard queue != nil else { return }
        queue?.published(file)
        wakeup.signal()
    }

    private func count(_ end: AppMetrics.HookEnd, _ count: Int = 1) {
        context.daemon.meter.count { $0.noteHook(end, count: count) }
        // The status is updated.
        intakeWakeup.signal()
    }

    /// Starts after the mark. Without a mark, starts with the files published from now on.
    private func begin() -> Bool {
        count(.taken, 0)
        do throws(SystemError) {
            guard let last = try mark.read(), FeedbackFileName.time(of: last.bytes) != nil else {
                let now = try context.folder.nextName(at: .now)
                try mark.write(now)
                queue = HookQueue(after: now)
                return true
            }
            // No new name can follow a mark in the future. Passing files twice is better than passing none.
            let isFollowed = context.folder.goOn(after: last)
            if !isFollowed { reportMark(last) }
            queue = HookQueue(after: isFollowed ? last : nil)
            return true
        } catch {
            startTrouble = .init(since: startTrouble?.since ?? .now, failureCount: 0, error: "\(error)")
            context.logger.error(
                "hook cannot start", metadata: [LogKey.path: "\(mark.path)", LogKey.error: "\(error)"])
            return false
        }
    }

    private func reportMark(_ last: FileName) {
        let hint: Logger.MetadataValue = "the hook gets all files in feedback/ again"
        context.logger.warning(
            "hook position is in the future",
            metadata: [
                LogKey.path: "\(mark.path)", LogKey.error: "the last file was \(last)",
                LogKey.hint: hint,
            ])
    }

    /// How many names are listed before the thread is yielded, and how many names the check of one file counts as.
    private static let listingSlice = 4096
    private static let lookCost = 64

    private func list() async {
        var found = LeastElements<FileName>(limit: HookQueue.nameLimit)
        do throws(SystemError) {
            var listing = try context.folder.listing()
            var count = 0
            while let entry = try listing.next() {
                count += 1
                if let name = context.folder.own(entry.name), queue?.last.map({ $0 < name }) ?? true,
                    found.mayKeep(name)
                {
                    count += Self.lookCost
                    if isMeant(name) { found.add(name) }
                }
                guard count >= Self.listingSlice else { continue }
                count = 0
                await context.files.worker.yield()
            }
            queue?.listed(found.sorted, isAll: found.isWhole)
        } catch {
            context.logger.error("feedback cannot be listed for the hook", metadata: [LogKey.error: "\(error)"])
            queue?.notListed(at: .now)
            queue?.note("\(error)", at: .now)
        }
    }

    /// Whether a listed file was created by this daemon.
    ///
    /// Later files get names that follow it, regardless of its author, because the hook's mark may move there.
    private func isMeant(_ name: FileName) -> Bool {
        do throws(SystemError) {
            switch try context.folder.origin(of: name) {
            case .own: return context.folder.goOn(after: name)
            case .gone: return false
            case .foreign(let reason):
                reportStranger(name, reason)
                return false
            }
        } catch {
            // The run with this file fails, reports the cause, and is retried.
            return true
        }
    }

    /// The most skipped files that are reported: consumers can create any number.
    private static let strangerLimit = 100

    private func reportStranger(_ file: FileName, _ reason: String) {
        guard strangers.count < Self.strangerLimit, strangers.insert(file).inserted else { return }
        let hint: Logger.MetadataValue = "check who can write to feedback/, then remove the file"
        context.logger.warning(
            "file is not passed to the hook",
            metadata: [LogKey.path: "\(file)", LogKey.error: "\(reason)", LogKey.hint: hint])
    }

    private func run(_ hook: Hook, _ file: FileName) async {
        guard let place = await awaitPlace() else { return }
        let mayRun = !Task.isCancelled && context.daemon.spool.mayAct
        let end = mayRun ? await end(of: hook, file) : .failed
        context.daemon.hooks.leave(place)
        // A queue that was recreated meanwhile has not requested this run.
        guard queue?.next(at: .now) == .run(file) else { return }
        queue?.ended(end, at: .now)
        guard let last = queue?.last, end != .failed, end != .skipped else { return }
        do throws(SystemError) {
            try mark.write(last)
        } catch {
            let hint: Logger.MetadataValue = "after a restart the hook gets some files again"
            context.logger.error(
                "hook position cannot be saved",
                metadata: [LogKey.path: "\(mark.path)", LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    /// Waits for a place among the hooks of all apps. The intake reports the wait if it lasts.
    private func awaitPlace() async -> Int? {
        let place = await context.daemon.hooks.enter { noteWait(true) }
        noteWait(false)
        return place
    }

    private func noteWait(_ isWaiting: Bool) {
        if room.note(hookWaits: isWaiting) { intakeWakeup.signal() }
    }

    /// Runs the hook with one file until it ends.
    private func end(of hook: Hook, _ file: FileName) async -> HookQueue.End {
        do throws(SystemError) {
            // Checked before the file is opened too: the daemon may not even have permission to read a foreign file.
            if case .foreign(let reason) = try context.folder.origin(of: file) {
                reportStranger(file, reason)
                return .skipped
            }
            let output = try ChildOutput(on: context.daemon.reactor)
            guard let child = try start(hook, file, output) else { return .skipped }
            let logger = context.logger
            async let telling: Void = Self.log(output, file, to: logger)
            let end = await result(of: child, within: hook.timeout)
            await output.finish()
            await telling
            return note(try end.get(), file)
        } catch {
            if error.isNotFound, !context.folder.has(file) { return .gone }
            noteFailure("\(error)", file)
            return .failed
        }
    }

    private func result(
        of child: ChildProcess, within limit: Duration
    ) async -> Result<ChildProcess.End?, SystemError> {
        do throws(SystemError) {
            return .success(try await end(of: child, within: limit))
        } catch {
            return .failure(error)
        }
    }

    /// Starts the hook; `nil` if the file is foreign.
    private func start(
        _ hook: Hook, _ file: FileName, _ output: ChildOutput
    ) throws(SystemError) -> ChildProcess? {
        let input = try context.folder.open(file)
        if case .foreign(let reason) = context.folder.origin(of: try input.status()) {
            reportStranger(file, reason)
            return nil
        }
        return try ChildProcess.start(
            hook.arguments, environment: environment(for: file), input: input, output: output)
    }

    /// The most lines of a hook's output that are logged per file.
    private static let outputLimit = 100

    /// Logs the output of a hook.
    private static func log(_ output: ChildOutput, _ file: FileName, to logger: Logger) async {
        let count = Atomic(0)
        do throws(SystemError) {
            try await output.lines { line in
                guard count.add(1, ordering: .relaxed).newValue <= outputLimit else { return }
                logger.notice("hook output", metadata: [LogKey.text: "\(line)", LogKey.path: "\(file)"])
            }
        } catch {
            logger.warning("hook output cannot be read", metadata: [LogKey.error: "\(error)"])
        }
        let more = count.load(ordering: .relaxed) - outputLimit
        guard more > 0 else { return }
        logger.notice(
            "hook output truncated", metadata: [LogKey.lines: "\(more)", LogKey.path: "\(file)"])
    }

    private func environment(for file: FileName) -> [String] {
        Hook.inherited(of: ChildProcess.ownEnvironment) + [
            "PUSHSPOOL_APP=\(context.name)", "PUSHSPOOL_NODE=\(context.daemon.node)",
            "PUSHSPOOL_FILE=\(context.folder.path)/\(file)",
        ]
    }

    /// Waits until a hook ends. Terminates it when its time is up or the app stops.
    ///
    /// - Returns: `nil` if it had to be terminated.
    private func end(of child: ChildProcess, within limit: Duration) async throws(SystemError) -> ChildProcess.End? {
        let watch = ChildWatch(on: context.daemon.reactor)
        do throws(SystemError) {
            if let end = try await watch.end(of: child, until: .now + limit) { return end }
            child.terminate()
            if try await watch.end(of: child, until: .now + Self.farewell, isFinal: true) != nil { return nil }
            child.killNow()
            if try await watch.end(of: child, until: .now + Self.farewell, isFinal: true) == nil {
                context.logger.error("hook cannot be killed", metadata: [LogKey.process: "\(child.id)"])
            }
            return nil
        } catch {
            // Its end can no longer be awaited, and it must not run at the same time as the next one.
            child.killNow()
            throw error
        }
    }

    private func note(_ end: ChildProcess.End?, _ file: FileName) -> HookQueue.End {
        switch end {
        case .exited(0):
            count(.taken)
            context.logger.debug("hook accepted a file", metadata: [LogKey.path: "\(file)"])
            return .taken
        case .exited(Self.refusal):
            count(.refused)
            context.logger.error("hook refused a file", metadata: [LogKey.path: "\(file)"])
            return .refused
        case .exited(let status): noteFailure("exited with status \(status)", file)
        case .killed(let signal): noteFailure("killed by signal \(signal)", file)
        case nil where Task.isCancelled:
            context.logger.info("hook terminated because its app is stopping", metadata: [LogKey.path: "\(file)"])
        case nil: noteFailure("timed out and was terminated", file)
        }
        return .failed
    }

    private func noteFailure(_ text: String, _ file: FileName) {
        queue?.note(text, at: .now)
        count(.failed)
        let pause = HookQueue.pause(after: (queue?.failureCount ?? 0) + 1)
        let hint: Logger.MetadataValue = "see its output in the log; it gets this file again, and later files wait"
        context.logger.warning(
            "hook failed",
            metadata: [
                LogKey.path: "\(file)", LogKey.error: "\(text)", LogKey.pause: "\(pause)", LogKey.hint: hint,
            ])
    }
}
