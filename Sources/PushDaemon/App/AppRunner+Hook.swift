import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore
import Synchronization

extension AppRunner {
    /// How long a hook may take to end that was asked to.
    private static let hookFarewell = Duration.seconds(5)
    /// The status of a hook that will never take the file (EX_DATAERR of sysexits.h).
    private static let refusal: Int32 = 65

    /// Runs the app's hook with each feedback file, until the task is cancelled.
    func runHook() async {
        let mark = HookMark(of: name, in: around.state)
        while !Task.isCancelled {
            guard let hook = app.hook else {
                hookQueue = nil
                await hookBell.wait()
                continue
            }
            guard hookQueue != nil || beginHook(mark) else {
                await hookBell.wait(until: .now + HookQueue.ceiling)
                continue
            }
            switch hookQueue?.next(at: .now) {
            case .list: await listForHook()
            case .run(let file): await run(hook, file, mark)
            case .wait(let moment): await hookBell.wait(until: moment?.instant)
            case nil: continue
            }
        }
    }

    /// Begins before anything is published: that must have a name behind the mark, or the hook would not get it.
    func prepareHook() {
        if app.hook != nil { _ = beginHook(HookMark(of: name, in: around.state)) }
    }

    /// Tells the hook's task of a file that was published.
    func noteForHook(_ file: FileName) {
        guard hookQueue != nil else { return }
        hookQueue?.published(file)
        hookBell.ring()
    }

    /// Begins behind the mark; without one, with what is published from now on.
    private func beginHook(_ mark: HookMark) -> Bool {
        do throws(SystemError) {
            guard let last = try mark.read(), FeedbackFolder.time(of: last.bytes) != nil else {
                let now = try folder.nextName(at: .now)
                try mark.write(now)
                hookQueue = HookQueue(after: now)
                return true
            }
            // No name to come is behind a mark of the future: rather files twice than none any more.
            let isFollowed = folder.goOn(after: last)
            if !isFollowed { reportMark(mark, last) }
            hookQueue = HookQueue(after: isFollowed ? last : nil)
            return true
        } catch {
            logger.error(
                "hook cannot begin", metadata: [LogKey.path: "\(mark.path)", LogKey.error: "\(error)"])
            return false
        }
    }

    private func reportMark(_ mark: HookMark, _ last: FileName) {
        let hint: Logger.MetadataValue = "the hook gets all files that are there, also those that it has had"
        logger.warning(
            "hook's mark is of the future",
            metadata: [
                LogKey.path: "\(mark.path)", LogKey.error: "it had \(last) last",
                LogKey.hint: hint,
            ])
    }

    /// How many names are read of the folder before others go on, and for how many of them a look at the file counts.
    private static let listingSlice = 4096
    private static let lookCost = 64

    private func listForHook() async {
        var found = FirstNames(limit: HookQueue.nameLimit)
        do throws(SystemError) {
            var listing = try folder.listing()
            var count = 0
            while let entry = try listing.next() {
                count += 1
                if let name = folder.own(entry.name), hookQueue?.last.map({ $0 < name }) ?? true, found.mayKeep(name) {
                    count += Self.lookCost
                    if isForHook(name) { found.add(name) }
                }
                guard count >= Self.listingSlice else { continue }
                count = 0
                await files.worker.yield()
            }
            hookQueue?.listed(found.sorted, isAll: found.isWhole)
        } catch {
            logger.error("feedback cannot be listed for the hook", metadata: [LogKey.error: "\(error)"])
            hookQueue?.notListed(at: .now)
        }
    }

    /// Whether a file that was found is one of ours.
    ///
    /// What is published from then on follows it, whoever gave it its name: the hook's mark may move there.
    private func isForHook(_ name: FileName) -> Bool {
        do throws(SystemError) {
            switch try folder.origin(of: name) {
            case .own: return folder.goOn(after: name)
            case .gone: return false
            case .foreign(let reason):
                reportStranger(name, reason)
                return false
            }
        } catch {
            // The run with it fails, says why, and is tried again.
            return true
        }
    }

    /// How many files are reported that are not given to the hook: consumers can make any number.
    private static let strangerLimit = 100

    private func reportStranger(_ file: FileName, _ reason: String) {
        guard strangers.count < Self.strangerLimit, strangers.insert(file).inserted else { return }
        let hint: Logger.MetadataValue = "see who may write to feedback/, then remove the file"
        logger.warning(
            "file is not given to the hook",
            metadata: [LogKey.path: "\(file)", LogKey.error: "\(reason)", LogKey.hint: hint])
    }

    private func run(_ hook: Hook, _ file: FileName, _ mark: HookMark) async {
        guard let place = await awaitHookPlace() else { return }
        let end = Task.isCancelled ? .failed : await end(of: hook, file)
        around.hooks.leave(place)
        // A queue that began anew meanwhile has not asked for this.
        guard hookQueue?.next(at: .now) == .run(file) else { return }
        hookQueue?.ended(end, at: .now)
        guard let last = hookQueue?.last, end != .failed, end != .skipped else { return }
        do throws(SystemError) {
            try mark.write(last)
        } catch {
            let hint: Logger.MetadataValue = "after a restart the hook gets files again that it has had"
            logger.error(
                "hook's mark cannot be written",
                metadata: [LogKey.path: "\(mark.path)", LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    /// Waits for a place among the hooks of all apps, and has the intake tell of the wait if it lasts.
    private func awaitHookPlace() async -> Int? {
        let place = await around.hooks.enter { noteHookWait(true) }
        noteHookWait(false)
        return place
    }

    private func noteHookWait(_ isWaiting: Bool) {
        if room.note(hookWaits: isWaiting) { intakeBell.ring() }
    }

    /// Runs the hook with one file to its end.
    private func end(of hook: Hook, _ file: FileName) async -> HookQueue.End {
        do throws(SystemError) {
            // Before it is opened as well: what is not ours may not even be ours to read.
            if case .foreign(let reason) = try folder.origin(of: file) {
                reportStranger(file, reason)
                return .skipped
            }
            let output = try ChildOutput(on: around.reactor)
            guard let child = try start(hook, file, output) else { return .skipped }
            async let telling: Void = tell(output, file)
            let end = await result(of: child, within: hook.timeout)
            await output.finish()
            await telling
            return note(try end.get(), file)
        } catch {
            if error.isNotFound, !folder.has(file) { return .gone }
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

    /// Starts the hook; `nil` if the file is not ours.
    private func start(
        _ hook: Hook, _ file: FileName, _ output: ChildOutput
    ) throws(SystemError) -> ChildProcess? {
        let input = try folder.open(file)
        if case .foreign(let reason) = folder.origin(of: try input.status()) {
            reportStranger(file, reason)
            return nil
        }
        return try ChildProcess.start(
            hook.arguments, environment: environment(for: file), input: input, output: output)
    }

    /// How many lines of what a hook prints for a file are logged.
    private static let outputLimit = 100

    /// Logs what a hook prints.
    private nonisolated func tell(_ output: ChildOutput, _ file: FileName) async {
        let count = Atomic(0)
        do throws(SystemError) {
            try await output.lines { [logger] line in
                guard count.add(1, ordering: .relaxed).newValue <= Self.outputLimit else { return }
                logger.notice("hook has printed", metadata: [LogKey.text: "\(line)", LogKey.path: "\(file)"])
            }
        } catch {
            logger.warning("what a hook prints cannot be read", metadata: [LogKey.error: "\(error)"])
        }
        let more = count.load(ordering: .relaxed) - Self.outputLimit
        guard more > 0 else { return }
        logger.notice(
            "hook has printed more lines", metadata: [LogKey.lines: "\(more)", LogKey.path: "\(file)"])
    }

    private func environment(for file: FileName) -> [String] {
        Hook.inherited(of: ChildProcess.ownEnvironment) + [
            "PUSHSPOOL_APP=\(name)", "PUSHSPOOL_NODE=\(around.node)",
            "PUSHSPOOL_FILE=\(folder.path)/\(file)",
        ]
    }

    /// Waits for a hook's end, and sees to it when its time is up or the app ends.
    ///
    /// - Returns: `nil` when it had to be ended.
    private func end(of child: ChildProcess, within limit: Duration) async throws(SystemError) -> ChildProcess.End? {
        let watch = ChildWatch(on: around.reactor)
        do throws(SystemError) {
            if let end = try await watch.end(of: child, until: .now + limit) { return end }
            child.terminate()
            if try await watch.end(of: child, until: .now + Self.hookFarewell, isFinal: true) != nil { return nil }
            child.killNow()
            if try await watch.end(of: child, until: .now + Self.hookFarewell, isFinal: true) == nil {
                logger.error("hook does not end", metadata: [LogKey.process: "\(child.id)"])
            }
            return nil
        } catch {
            // Nobody can wait for it, and it must not run beside the next one.
            child.killNow()
            throw error
        }
    }

    private func note(_ end: ChildProcess.End?, _ file: FileName) -> HookQueue.End {
        switch end {
        case .exited(0):
            logger.debug("hook has taken a file", metadata: [LogKey.path: "\(file)"])
            return .taken
        case .exited(Self.refusal):
            logger.error("hook has refused a file", metadata: [LogKey.path: "\(file)"])
            return .refused
        case .exited(let status): noteFailure("it exited with \(status)", file)
        case .killed(let signal): noteFailure("it was killed by signal \(signal)", file)
        case nil where Task.isCancelled:
            logger.info("hook was ended with its app", metadata: [LogKey.path: "\(file)"])
        case nil: noteFailure("it was ended, because its time was up", file)
        }
        return .failed
    }

    private func noteFailure(_ text: String, _ file: FileName) {
        let pause = HookQueue.pause(after: (hookQueue?.failureCount ?? 0) + 1)
        let hint: Logger.MetadataValue = "see what it has printed; it gets the file again, and those after it wait"
        logger.warning(
            "hook has failed",
            metadata: [
                LogKey.path: "\(file)", LogKey.error: "\(text)", LogKey.pause: "\(pause)", LogKey.hint: hint,
            ])
    }
}
