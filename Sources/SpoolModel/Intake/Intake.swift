package import JobFormat
package import PushModel

/// Decides which files in one app's `new/` are complete, and in which order to take them.
///
/// Its inputs are the watch's hints, the names that scans list, and the results of `lstat`. Its outputs are the next
/// action (`next`) and when to ask again (`deadline`). It reads no clock and no file. It takes files by the lane in
/// their names (`LaneTurns`), and within a lane in the order in which they appeared. A file renamed into place is taken
/// at once. One written in place settles before it is read, for which the time since its ctime counts, and must be
/// unchanged for `patience` before it fails or is taken without an end marker. So a prefix of a job is taken for the job
/// only if it ends in a newline, has no end marker, and stays unchanged for `patience`.
///
/// At most `attention` files of each lane have attention. The names of further files wait in a backlog, in the order in
/// which they were noticed. Names that do not fit into it are left to a later scan (`wantsScan`).
///
/// A file whose time has not come is read once, so that its faults are reported early, and then postponed: it is read
/// again when it has changed, or when its time has come (`noteTime`, `nextTime`).
package struct Intake: Sendable {
    /// The rules for how long to watch files.
    package let rules: IntakeRules

    private var entries: [FileName: IntakeEntry] = [:]
    /// Names without attention, by lane, and whether some did not fit.
    private var backlogs: [IntakeBacklog]
    private var hasLeftOut = false
    /// The postponed files.
    private var postponements: IntakePostponements
    private var looks = Queue<FileName>()
    /// The files ready to be taken, by lane, and the turns of the lanes.
    private var ready = Lane.allCases.map { _ in Heap<IntakeTurn>() }
    private var turns = LaneTurns()
    private var timers = Heap<IntakeTimer>()
    private var notices = Queue<IntakeAction>()
    /// The final names of rsync's temporary files, with the last scan that listed those.
    private var rsyncTargets: [FileName: UInt64] = [:]
    /// Names that cannot be jobs.
    private var ignored = IgnoredNames()
    private var lastTicket: UInt64 = 0
    private var scan: UInt64 = 0

    /// Creates an intake without files.
    package init(rules: IntakeRules = IntakeRules()) {
        self.rules = rules
        backlogs = Lane.allCases.map { _ in IntakeBacklog(byteLimit: rules.backlogByteCount) }
        postponements = IntakePostponements(byteLimit: rules.postponedByteCount)
    }

    /// The number of files with attention.
    package var count: Int { entries.count }

    /// The number of postponed files.
    package var postponedCount: Int { postponements.count }

    /// Whether a name was noticed before, and is still to be taken.
    package func knows(_ name: FileName) -> Bool {
        entries[name] != nil || postponements.contains(name) || backlogs[name.lane.rank].contains(name)
    }

    /// The last look at a file with attention; `nil` without one.
    package func sighting(of name: FileName) -> IntakeSighting? { entries[name]?.sighting }

    /// When a file with attention was dropped: its ctime when it was first seen, by the filesystem's clock.
    package func dropTime(of name: FileName) -> WallTime? { entries[name]?.order }

    /// The number of known files, including postponed ones and those in the backlogs.
    package var knownCount: Int { backlogs.reduce(entries.count + postponements.count) { $0 + $1.count } }

    /// The number of files that are never taken because of their names, as of the last complete scan.
    package var ignoredCount: Int { ignored.count }

    /// Returns the names that cannot be jobs and have stayed, each once. Of many, returns only the first 1,000.
    package mutating func takeIgnored() -> [FileName] { ignored.takeNews() }

    /// Returns names that cannot be jobs, a moment after they were seen. Confirm those that are still there.
    package mutating func takeMistaken(at now: Moment) -> [FileName] { ignored.takeDue(at: now) }

    /// Records that a name that cannot be a job has stayed.
    package mutating func confirmMistaken(_ name: FileName) { ignored.confirm(name) }

    /// When the oldest ready file appeared; `nil` if none is ready.
    package var oldestReady: WallTime? {
        mutating get {
            var oldest: WallTime?
            for lane in Lane.allCases {
                guard let place = firstReady(in: lane), let order = entries.values[place].order else { continue }
                oldest = oldest.map { min($0, order) } ?? order
            }
            return oldest
        }
    }

    /// Whether another scan would find names that did not fit before and do now.
    package var wantsScan: Bool { hasLeftOut && backlogs.allSatisfy(\.isEmpty) }

    // MARK: Input

    /// Processes a hint of the watch.
    package mutating func hint(_ hint: IntakeHint, _ name: FileName, at now: Moment) {
        if let target = name.rsyncTarget { return rsyncTargets[target] = hint == .goneAway ? nil : scan }
        guard name.isJob else {
            if name.mayBeMistaken, hint != .goneAway { ignored.seen(name, at: now) }
            return
        }
        recall(name, at: now)
        guard var entry = entries[name] else { return hintUnattended(hint, name, at: now) }
        if entry.phase == .taken {
            // The name now belongs to another file than the one that the shell has.
            entry.pending = hint
            entries[name] = entry
        } else if hint == .goneAway {
            entries[name] = nil
        } else {
            entry.restart(isPublishedByRename: hint == .movedIn, at: now)
            entry.scan = scan
            entries[name] = entry
            if entry.phase != .looking, entry.isPublishedByRename { want(name) } else { settle(name) }
        }
    }

    /// Begins a scan. The caller reports every name in the folder with `listed`. Hints and answers may come in between.
    package mutating func beginScan() {
        scan += 1
        hasLeftOut = false
        ignored.beginScan()
        // Each scan checks only some of the postponed files, because hints usually report changes.
        postponements.beginScan(looks: max(1, rules.attention / 4))
    }

    /// Processes a name that a scan found.
    package mutating func listed(_ name: FileName, at now: Moment) {
        if let target = name.rsyncTarget { return rsyncTargets[target] = scan }
        guard name.isJob else {
            if name.mayBeMistaken { ignored.listed(name, at: now) }
            return
        }
        guard let place = entries.index(forKey: name) else { return listedUnattended(name, at: now) }
        entries.values[place].scan = scan
        if entries.values[place].phase == .waiting { want(name) }
    }

    /// Ends a scan. Files that it did not list are forgotten.
    package mutating func endScan() {
        let current = scan
        rsyncTargets = rsyncTargets.filter { $0.value == current }
        entries = entries.filter { $0.value.scan == current || $0.value.phase == .taken }
        postponements.endScan(current)
        ignored.endScan()
    }

    /// Gives attention again to postponed files whose time of day has come, at most `attention` of them per call.
    package mutating func noteTime(_ time: WallTime, at now: Moment) {
        for _ in 0..<rules.attention {
            guard let next = postponements.popFirst(at: time) else { return }
            comeBack(next.name, next.postponement, at: now)
        }
    }

    /// Gives attention again to a deferred file.
    package mutating func resume(_ name: FileName, at now: Moment) {
        if let postponement = postponements.remove(name) { return comeBack(name, postponement, at: now) }
        // The file is being checked for a change. It must not be postponed again, even if it is unchanged.
        if entries[name]?.postponement != nil { entries[name]?.isDue = true }
    }

    /// Processes the result of an `lstat`.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - sighting: The result.
    ///   - age: For how long the file has been unchanged according to its ctime; 0 if its filesystem's clock is not ours.
    ///     Not asked for where it does not matter, as for a file that was renamed into place.
    ///   - now: The moment of the look.
    package mutating func sighted(
        _ name: FileName, _ sighting: IntakeSighting, unchangedFor age: @autoclosure () -> Duration = .zero,
        at now: Moment
    ) {
        guard var entry = entries[name], entry.phase != .taken, !leavesAlone(name, entry, sighting) else { return }
        if entry.mayHaveSettled { entry.noteAge(min(age(), rules.settle), at: now) }
        if entry.note(sighting, at: now) { notices.append(.noteOverwritten(name)) }
        entry.phase = .waiting
        schedule(name, &entry, at: now)
        entries[name] = entry
    }

    /// Processes the result of reading a file, and decides about it. After `wait` and `postpone` the shell has released it.
    package mutating func read(_ name: FileName, _ reading: IntakeReading, at now: Moment) -> IntakeDecision {
        guard var entry = entries[name], entry.phase == .taken else { return .wait }
        if entry.pending != nil {
            release(name, entry, at: now)
            return .wait
        }
        let judgement = IntakeJudgement(rules: rules, entry: entry, now: now)
        let decision = judgement.decision(on: reading)
        if decision == .wait {
            let isPatienceOver = now >= entry.stableSince + rules.patience
            if isPatienceOver, !entry.wasToldUnmarked { notices.append(.warnUnmarked(name)) }
            entry.wasToldUnmarked = entry.wasToldUnmarked || isPatienceOver
            let end = entry.stableSince + (isPatienceOver ? rules.markPatience : rules.patience)
            // Until then, or until it changes, no scan has the file read again.
            if judgement.mayGrow(reading) { entry.retryAt = end }
            park(name, &entry, until: end)
            entries[name] = entry
        }
        guard decision == .claim, let until = reading.notBefore else { return decision }
        // If there is no room for it, the next scan finds it, and it is read again.
        if !postpone(name, entry, until: until) { entries[name] = nil }
        return .postpone(until)
    }

    /// Processes the result of a look, an opening or a move.
    package mutating func answer(_ name: FileName, _ answer: IntakeAnswer, at now: Moment) {
        guard let place = entries.index(forKey: name) else { return }
        var entry = entries.values[place]
        switch answer {
        case .moved, .gone:
            entries.remove(at: place)
            if let pending = entry.pending, pending != .goneAway { hint(pending, name, at: now) }
            return
        case .returned(let newName):
            return takeBack(name, as: newName, at: now)
        case .busy:
            back(off: &entry, at: now)
        case .deferred:
            if entry.pending == nil, postpone(name, entry, until: nil) { return }
            back(off: &entry, at: now)
        case .unreadable:
            guard now < entry.stableSince + rules.patience else {
                conclude(&entry, .fail(name, .unreadable))
                return entries.values[place] = entry
            }
            park(name, &entry, until: entry.stableSince + rules.patience)
            return release(name, entry, at: now)
        case .stuck:
            back(off: &entry, at: now)
            if !entry.wasReported { notices.append(.warnStuck(name)) }
            entry.wasReported = true
        }
        park(name, &entry, until: entry.retryAt ?? now)
        release(name, entry, at: now)
    }

    /// Records that a claimed job was moved back to `new/` because nothing of it could be sent. It keeps its age.
    package mutating func noteGivenBack(_ name: FileName, droppedAt: WallTime, at now: Moment) {
        hint(.movedIn, name, at: now)
        entries[name]?.order = droppedAt
    }

    // MARK: Output

    /// Returns the next action; `nil` if there is none before `deadline` or the next input.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - lanes: The lanes that have room for jobs, by the names of their files. Ready files of other lanes stay ready.
    ///     Evaluated only if a file is ready.
    ///   - longest: The most bytes of a file. A longer file stays ready, and so do the files after it in its lane.
    ///     Evaluated only if a file is ready.
    /// - Returns: The action.
    package mutating func next(
        at now: Moment, taking lanes: @autoclosure () -> LaneSet = .all, longest: @autoclosure () -> Int64 = .max
    ) -> IntakeAction? {
        if let notice = notices.popFirst() { return notice }
        while let timer = timers.first, timer.moment <= now {
            _ = timers.popFirst()
            if entries[timer.name]?.ticket == timer.ticket { want(timer.name) }
        }
        attendToBacklogs(at: now)
        repeat {
            while let name = looks.popFirst() {
                guard let place = entries.index(forKey: name), entries.values[place].phase == .wantsLook else {
                    continue
                }
                entries.values[place].phase = .looking
                return .look(name)
            }
            if ready.contains(where: { !$0.isEmpty }), let action = takeReady(in: lanes(), longest: longest()) {
                return action
            }
            // Dropping outdated turns may have made room.
        } while attendToBacklogs(at: now)
        return nil
    }

    /// Returns names that `next` will have looked at, and those of files of `lanes` up to `longest` that it will have opened.
    package func upcoming(
        _ count: Int, in lanes: LaneSet = [], longest: Int64 = 0
    ) -> (looks: [FileName], openings: [FileName]) {
        var openings: [FileName] = []
        for lane in Lane.allCases where lanes.contains(lane) {
            var turns = ready[lane.rank]
            while openings.count < count, let turn = turns.popFirst() {
                guard let entry = entries[turn.name], entry.isReady(turn) else { continue }
                if (entry.sighting?.byteCount ?? 0) <= longest { openings.append(turn.name) }
            }
        }
        return (looks.prefix(count).filter { entries[$0]?.phase == .wantsLook }, openings)
    }

    /// Returns the action for the file whose turn it is.
    private mutating func takeReady(in lanes: LaneSet, longest: Int64) -> IntakeAction? {
        let waiting = LaneSet { lane in
            guard lanes.contains(lane), let place = firstReady(in: lane) else { return false }
            return entries.values[place].sighting.map { $0.byteCount <= longest } ?? true
        }
        guard let lane = turns.next(of: waiting)?.lane, let place = firstReady(in: lane) else { return nil }
        turns.took(1, lane, of: waiting)
        _ = ready[lane.rank].popFirst()
        entries.values[place].phase = .taken
        let (name, entry) = entries[place]
        let isPublished = entry.isPublishedByRename && entry.sighting?.isUnfinishedRsync == false
        return .open(name, isPublishedByRename: isPublished)
    }

    /// Finds the entry of the first ready file of a lane, and drops outdated turns.
    private mutating func firstReady(in lane: Lane) -> Dictionary<FileName, IntakeEntry>.Index? {
        while let turn = ready[lane.rank].first {
            if let place = entries.index(forKey: turn.name), entries.values[place].isReady(turn) { return place }
            _ = ready[lane.rank].popFirst()
        }
        return nil
    }

    /// When to call `next` again if there is no input before; `nil` if no timer is running.
    package var deadline: Moment? {
        mutating get {
            while let timer = timers.first, entries[timer.name]?.ticket != timer.ticket { _ = timers.popFirst() }
            guard let next = timers.first?.moment, let check = ignored.deadline else {
                return timers.first?.moment ?? ignored.deadline
            }
            return min(next, check)
        }
    }

    /// When to call `noteTime`, by the time of day; `nil` if no postponed file waits for a time.
    package var nextTime: WallTime? {
        mutating get { postponements.firstTime }
    }

    // MARK: Postponed files

    /// Postpones a file until a time of day, or until `resume`. Returns whether there is room to remember it.
    private mutating func postpone(_ name: FileName, _ entry: IntakeEntry, until: WallTime?) -> Bool {
        guard let sighting = entry.sighting else { return false }
        let postponement = IntakePostponement(sighting, of: entry, until: until)
        guard postponements.insert(name, postponement, scan: scan) else { return false }
        entries[name] = nil
        return true
    }

    /// Gives attention to a postponed file, to check whether it has changed.
    private mutating func recall(_ name: FileName, at now: Moment) {
        guard !postponements.isEmpty, let postponement = postponements.remove(name) else { return }
        entries[name] = IntakeEntry(postponement, isDue: false, at: now, scan: scan)
    }

    /// Postpones a file again if it is unchanged and its time has not come. Returns whether it did.
    private mutating func leavesAlone(_ name: FileName, _ entry: IntakeEntry, _ sighting: IntakeSighting) -> Bool {
        guard let postponement = entry.postponement, !entry.isDue, postponement.isOf(sighting),
            postponements.insert(name, postponement, scan: entry.scan)
        else { return false }
        entries[name] = nil
        return true
    }

    /// Resumes a postponed file that may be taken. If its lane has a backlog, only its name waits there, as if new.
    private mutating func comeBack(_ name: FileName, _ postponement: IntakePostponement, at now: Moment) {
        let rank = name.lane.rank
        guard backlogs[rank].isEmpty, hasAttention(for: rank) else {
            return admit(name, isPublishedByRename: postponement.isPublishedByRename, at: now)
        }
        entries[name] = IntakeEntry(postponement, isDue: true, at: now, scan: scan)
        want(name)
    }

    // MARK: Steps

    /// Processes a name without attention that a scan found.
    private mutating func listedUnattended(_ name: FileName, at now: Moment) {
        guard let mustLook = postponements.noteListed(name, scan: scan) else {
            if !backlogs[name.lane.rank].noteListed(name) { admit(name, isPublishedByRename: false, at: now) }
            return
        }
        guard mustLook else { return }
        recall(name, at: now)
        want(name)
    }

    /// Gives attention to a name, or adds it to its lane's backlog.
    private mutating func admit(_ name: FileName, isPublishedByRename: Bool, at now: Moment) {
        let rank = name.lane.rank
        if backlogs[rank].isEmpty, hasAttention(for: rank) {
            attend(to: name, isPublishedByRename: isPublishedByRename, at: now)
        } else if !backlogs[rank].append(name, isPublishedByRename ? .publishedByRename : .present) {
            hasLeftOut = true
        }
    }

    private mutating func attend(to name: FileName, isPublishedByRename: Bool, at now: Moment) {
        entries[name] = IntakeEntry(isPublishedByRename: isPublishedByRename, at: now, scan: scan)
        looks.append(name)
    }

    /// Whether another file of a lane may get attention. Files that settle or cannot be taken do not count: they would
    /// keep out files that can be taken at once.
    private func hasAttention(for rank: Int) -> Bool {
        looks.count + ready[rank].count < rules.attention
    }

    /// Gives attention to names from the backlogs while there is room, and returns whether there were any.
    @discardableResult
    private mutating func attendToBacklogs(at now: Moment) -> Bool {
        var hasAttended = false
        for rank in backlogs.indices {
            while !backlogs[rank].isEmpty, hasAttention(for: rank), let next = backlogs[rank].popFirst() {
                guard entries[next.name] == nil, !postponements.contains(next.name) else { continue }
                attend(to: next.name, isPublishedByRename: next.isPublishedByRename, at: now)
                hasAttended = true
            }
        }
        return hasAttended
    }

    /// Processes a hint about a name without attention, which may be in the backlog.
    private mutating func hintUnattended(_ hint: IntakeHint, _ name: FileName, at now: Moment) {
        if backlogs[name.lane.rank].note(IntakeBacklog.News(hint), of: name) || hint == .goneAway { return }
        admit(name, isPublishedByRename: hint == .movedIn, at: now)
    }

    /// Starts over with a file that the daemon renamed back. It must settle, regardless of the watch's report of that rename.
    private mutating func takeBack(_ name: FileName, as newName: FileName, at now: Moment) {
        if newName != name { answer(name, .gone, at: now) }
        recall(newName, at: now)
        var entry = entries[newName] ?? IntakeEntry(isPublishedByRename: false, at: now, scan: scan)
        entry.homecoming = .unseen
        entry.restart(isPublishedByRename: false, at: now)
        entry.scan = scan
        park(newName, &entry, until: now + rules.settle)
        release(newName, entry, at: now)
    }

    private mutating func want(_ name: FileName) {
        guard let place = entries.index(forKey: name), entries.values[place].isIdle else { return }
        entries.values[place].phase = .wantsLook
        entries.values[place].ticket = newTicket()
        looks.append(name)
    }

    /// Waits for a file written in place to settle. If a look is under way, its result starts the wait.
    private mutating func settle(_ name: FileName) {
        guard var entry = entries[name], entry.isIdle else { return }
        park(name, &entry, until: entry.stableSince + rules.settle)
        entries[name] = entry
    }

    /// Decides when a file that was just seen may be taken.
    private mutating func schedule(_ name: FileName, _ entry: inout IntakeEntry, at now: Moment) {
        switch IntakeJudgement(rules: rules, entry: entry, now: now).readiness(
            isRsyncRunning: rsyncTargets[name] != nil)
        {
        case .now(let order):
            (entry.phase, entry.ticket) = (.ready, newTicket())
            ready[name.lane.rank].insert(IntakeTurn(order: order, name: name, ticket: entry.ticket))
        case .later(let moment): park(name, &entry, until: moment)
        case .failing(let code): conclude(&entry, .fail(name, code))
        case .special: conclude(&entry, .moveAsItIs(name))
        }
    }

    private mutating func conclude(_ entry: inout IntakeEntry, _ action: IntakeAction) {
        (entry.phase, entry.ticket) = (.taken, newTicket())
        notices.append(action)
    }

    private mutating func park(_ name: FileName, _ entry: inout IntakeEntry, until moment: Moment) {
        (entry.phase, entry.ticket) = (.waiting, newTicket())
        timers.insert(IntakeTimer(moment: moment, name: name, ticket: entry.ticket))
    }

    /// Stores the entry of a file that the shell had, and processes the hint that arrived meanwhile.
    private mutating func release(_ name: FileName, _ entry: IntakeEntry, at now: Moment) {
        var entry = entry
        let pending = entry.pending
        entry.pending = nil
        if pending != nil, entry.phase == .taken { entry.phase = .waiting }
        entries[name] = entry
        if let pending { hint(pending, name, at: now) }
    }

    private func back(off entry: inout IntakeEntry, at now: Moment) {
        entry.attempts += 1
        entry.retryAt = now + rules.retry.longestPause(after: entry.attempts)
    }

    private mutating func newTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
}
