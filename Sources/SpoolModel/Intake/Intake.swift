package import APNSModel

/// Decides which files in one app's `new/` are whole, and in which order they are taken.
///
/// Told what the watch hints, what scans list and what `lstat` sees, it says what to do next (`next`) and when to ask
/// again (`deadline`). Takes files by lane, as their names ask (`LaneTurns`), and within a lane in the order in which they
/// appeared. Reads no clock and no file. A file renamed into place is taken at once; one written in place
/// settles first, and is not judged before it was unchanged for `patience`. A prefix of a job is never taken for the
/// job unless it ends in a newline, says nothing of its end, and stays as it is for `patience`.
///
/// Of a crowd it attends to as many as `attention` of each lane, and keeps the names of the others until it is their turn:
/// among those it goes by the order in which they were noticed. Names for which there is no room are left to another
/// scan (`wantsScan`).
///
/// A file whose time has not come is read once, so that its faults are told early, and left alone then: it is read again
/// when it has changed, or when the time has come (`noteTime`, `nextTime`).
package final class Intake {
    /// How long is long enough.
    package let rules: IntakeRules

    private var entries: [FileName: IntakeEntry] = [:]
    /// Names that are not attended to yet, by lane, and whether some had to be left where they are.
    private var backlogs: [IntakeBacklog]
    private var hasLeftOut = false
    /// Files that are left alone until their times come.
    private var postponements: IntakePostponements
    private var looks = Queue<FileName>()
    /// Files that may be taken, by lane, and which lane is next.
    private var ready = Lane.allCases.map { _ in Heap<IntakeTurn>() }
    private var turns = LaneTurns()
    private var timers = Heap<IntakeTimer>()
    private var notices = Queue<IntakeAction>()
    /// Names that rsync writes temporary files for, by the last scan that listed those.
    private var rsyncTargets: [FileName: UInt64] = [:]
    /// Names that no job has.
    private var ignored = IgnoredNames()
    private var lastTicket: UInt64 = 0
    private var scan: UInt64 = 0

    /// Creates an intake that knows of no file.
    package init(rules: IntakeRules = IntakeRules()) {
        self.rules = rules
        backlogs = Lane.allCases.map { _ in IntakeBacklog(byteLimit: rules.backlogByteCount) }
        postponements = IntakePostponements(byteLimit: rules.postponedByteCount)
    }

    /// How many files it attends to.
    package var count: Int { entries.count }

    /// How many files it leaves alone.
    package var postponedCount: Int { postponements.count }

    /// Whether it attends to a file.
    package func isAttending(to name: FileName) -> Bool { entries[name] != nil }

    /// When a file that it attends to was dropped: the filesystem's time of its last change when it was first seen.
    package func dropTime(of name: FileName) -> WallTime? { entries[name]?.order }

    /// How many files it knows of, those among them that wait by name until it attends to them, or for their time.
    package var knownCount: Int { backlogs.reduce(entries.count + postponements.count) { $0 + $1.count } }

    /// How many files are never taken, because no job has such names; as of the last whole scan.
    package var ignoredCount: Int { ignored.count }

    /// Those of them that two whole scans have found, each name once; of a crowd only the first 1,000.
    package func takeIgnored() -> [FileName] { ignored.takeNews() }

    /// When the file appeared that is the first of those that may be taken; `nil` when none may.
    package var oldestReady: WallTime? {
        get {
            var oldest: WallTime?
            for lane in Lane.allCases {
                guard let order = firstReady(in: lane)?.order else { continue }
                oldest = oldest.map { min($0, order) } ?? order
            }
            return oldest
        }
    }

    /// Whether another scan would find names for which there was no room before and now is.
    package var wantsScan: Bool { hasLeftOut && backlogs.allSatisfy(\.isEmpty) }

    // MARK: Input

    /// Takes a hint of the watch.
    package func hint(_ hint: IntakeHint, _ name: FileName, at now: Moment) {
        if let target = name.rsyncTarget { return hintTemporary(hint, of: target) }
        guard name.isJob else { return }
        recall(name, at: now)
        guard var entry = entries[name] else { return hintUnattended(hint, name, at: now) }
        if entry.phase == .taken {
            // What is there now is another file than the one that the shell has in hand.
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

    /// Begins a scan: every name of the folder is then `listed`. Hints and answers may come in between.
    package func beginScan() {
        scan += 1
        hasLeftOut = false
        ignored.beginScan()
        // Not all of a crowd with every scan: hints tell of changes, as a rule.
        postponements.beginScan(looks: max(1, rules.attention / 4))
    }

    /// Takes a name that a scan found.
    package func listed(_ name: FileName, at now: Moment) {
        if let target = name.rsyncTarget { return rsyncTargets[target] = scan }
        guard name.isJob else {
            if name.mayBeMistaken { ignored.listed(name) }
            return
        }
        guard let entry = entries[name] else { return listedUnattended(name, at: now) }
        entries[name]?.scan = scan
        if entry.phase == .waiting { want(name) }
    }

    /// Ends a scan: what it did not list is gone.
    package func endScan() {
        let current = scan
        rsyncTargets = rsyncTargets.filter { $0.value == current }
        entries = entries.filter { $0.value.scan == current || $0.value.phase == .taken }
        postponements.endScan(current)
        ignored.endScan()
    }

    /// Takes the time of day: files whose time has come are attended to again, as many at a time as that is done with.
    package func noteTime(_ time: WallTime, at now: Moment) {
        for _ in 0..<rules.attention {
            guard let next = postponements.popFirst(at: time) else { return }
            comeBack(next.name, next.postponement, at: now)
        }
    }

    /// Attends again to a file that was deferred.
    package func resume(_ name: FileName, at now: Moment) {
        if let postponement = postponements.remove(name) { return comeBack(name, postponement, at: now) }
        // It is just being looked at whether it has changed; it is not left alone again if it has not.
        if entries[name]?.postponement != nil { entries[name]?.isDue = true }
    }

    /// Takes what `lstat` saw of a name.
    package func sighted(_ name: FileName, _ sighting: IntakeSighting, at now: Moment) {
        guard var entry = entries[name], entry.phase != .taken, !leavesAlone(name, entry, sighting) else { return }
        let isOther = entry.note(sighting, at: now)
        entry.phase = .waiting
        entries[name] = entry
        if isOther { notices.append(.noteOverwritten(name)) }
        schedule(name, entry, at: now)
    }

    /// Takes what reading a file said, and decides about it. On `wait` and `postpone` the file is no longer in hand.
    package func read(_ name: FileName, _ reading: IntakeReading, at now: Moment) -> IntakeDecision {
        guard let entry = entries[name], entry.phase == .taken else { return .wait }
        if entry.pending != nil {
            release(name, at: now)
            return .wait
        }
        let decision = IntakeJudgement(rules: rules, entry: entry, now: now).decision(on: reading)
        if decision == .wait { park(name, until: entry.stableSince + rules.patience) }
        guard decision == .claim, let until = reading.notBefore else { return decision }
        // Without room for it the next scan finds it, and it is read again.
        if !postpone(name, entry, until: until) { entries[name] = nil }
        return .postpone(until)
    }

    /// Takes what came of a look, a take or a move.
    package func answer(_ name: FileName, _ answer: IntakeAnswer, at now: Moment) {
        guard var entry = entries[name] else { return }
        switch answer {
        case .moved, .gone:
            entries[name] = nil
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
            guard now >= entry.stableSince + rules.patience else {
                park(name, until: entry.stableSince + rules.patience)
                return release(name, at: now)
            }
            return conclude(name, .fail(name, .unreadable))
        case .stuck:
            back(off: &entry, at: now)
            if !entry.wasReported { notices.append(.warnStuck(name)) }
            entry.wasReported = true
        }
        entries[name] = entry
        park(name, until: entry.retryAt ?? now)
        release(name, at: now)
    }

    /// Takes note of a job that was claimed and is in `new/` again, since nothing of it could be sent: it is as old as it was.
    package func noteGivenBack(_ name: FileName, droppedAt: WallTime, at now: Moment) {
        hint(.movedIn, name, at: now)
        entries[name]?.order = droppedAt
    }

    // MARK: Output

    /// Returns what to do next; `nil` when there is nothing to do before `deadline` or the next input.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - lanes: Those for whose jobs there is room, by the names of their files. Files of others that are ready stay so.
    ///   - longest: How many bytes a file may have. One that has more stays ready, and so does what is behind it in its lane.
    /// - Returns: What to do.
    package func next(
        at now: Moment, taking lanes: LaneSet = .all, longest: Int64 = .max
    ) -> IntakeAction? {
        if let notice = notices.popFirst() { return notice }
        while let timer = timers.first, timer.moment <= now {
            _ = timers.popFirst()
            if entries[timer.name]?.ticket == timer.ticket { want(timer.name) }
        }
        attendToBacklogs(at: now)
        repeat {
            while let name = looks.popFirst() {
                guard entries[name]?.phase == .wantsLook else { continue }
                entries[name]?.phase = .looking
                return .look(name)
            }
            if let take = takeReady(in: lanes, longest: longest) { return take }
            // What was overtaken has made room by now.
        } while attendToBacklogs(at: now)
        return nil
    }

    /// Takes the file whose turn it is.
    private func takeReady(in lanes: LaneSet, longest: Int64) -> IntakeAction? {
        let waiting = LaneSet { lane in
            guard lanes.contains(lane), let entry = firstReady(in: lane) else { return false }
            return entry.sighting.map { $0.byteCount <= longest } ?? true
        }
        guard let lane = turns.next(of: waiting)?.lane, let turn = ready[lane.rank].popFirst(),
            let entry = entries[turn.name]
        else { return nil }
        turns.took(1, lane, of: waiting)
        entries[turn.name]?.phase = .taken
        let isPublished = entry.isPublishedByRename && entry.sighting?.isUnfinishedRsync == false
        return .take(turn.name, isPublishedByRename: isPublished)
    }

    /// What is known of the first file of a lane that may be taken; turns that were overtaken are dropped.
    private func firstReady(in lane: Lane) -> IntakeEntry? {
        while let turn = ready[lane.rank].first {
            if let entry = entries[turn.name], entry.ticket == turn.ticket, entry.phase == .ready { return entry }
            _ = ready[lane.rank].popFirst()
        }
        return nil
    }

    /// When to ask again if nothing happens before; `nil` when nothing is being waited for.
    package var deadline: Moment? {
        get {
            while let timer = timers.first, entries[timer.name]?.ticket != timer.ticket { _ = timers.popFirst() }
            return timers.first?.moment
        }
    }

    /// The time of day at which to call `noteTime`; `nil` when no file is left alone until then.
    package var nextTime: WallTime? {
        get { postponements.firstTime }
    }

    // MARK: Files that are left alone

    /// Leaves a file alone until a time of day, or until `resume`. Returns whether there is room to remember it.
    private func postpone(_ name: FileName, _ entry: IntakeEntry, until: WallTime?) -> Bool {
        guard let sighting = entry.sighting else { return false }
        let postponement = IntakePostponement(sighting, of: entry, until: until)
        guard postponements.insert(name, postponement, scan: scan) else { return false }
        entries[name] = nil
        return true
    }

    /// Attends again to a file that is left alone, if it is: to look whether it has changed.
    private func recall(_ name: FileName, at now: Moment) {
        guard !postponements.isEmpty, let postponement = postponements.remove(name) else { return }
        entries[name] = IntakeEntry(postponement, isDue: false, at: now, scan: scan)
    }

    /// Leaves a file alone again that is as it was and whose time has not come. Returns whether so.
    private func leavesAlone(_ name: FileName, _ entry: IntakeEntry, _ sighting: IntakeSighting) -> Bool {
        guard let postponement = entry.postponement, !entry.isDue, postponement.isOf(sighting),
            postponements.insert(name, postponement, scan: entry.scan)
        else { return false }
        entries[name] = nil
        return true
    }

    /// Attends again to a file that was left alone and may be taken; behind a crowd it waits by name, and settles anew then.
    private func comeBack(_ name: FileName, _ postponement: IntakePostponement, at now: Moment) {
        let rank = name.lane.rank
        guard backlogs[rank].isEmpty, hasAttention(for: rank) else {
            return admit(name, isPublishedByRename: postponement.isPublishedByRename, at: now)
        }
        entries[name] = IntakeEntry(postponement, isDue: true, at: now, scan: scan)
        want(name)
    }

    // MARK: Steps

    /// Takes a name that a scan found and that is not attended to.
    private func listedUnattended(_ name: FileName, at now: Moment) {
        guard let mustLook = postponements.noteListed(name, scan: scan) else {
            if !backlogs[name.lane.rank].noteListed(name) { admit(name, isPublishedByRename: false, at: now) }
            return
        }
        guard mustLook else { return }
        recall(name, at: now)
        want(name)
    }

    /// Begins to attend to a name, or has it wait behind the others of its lane.
    private func admit(_ name: FileName, isPublishedByRename: Bool, at now: Moment) {
        let rank = name.lane.rank
        if backlogs[rank].isEmpty, hasAttention(for: rank) {
            attend(to: name, isPublishedByRename: isPublishedByRename, at: now)
        } else if !backlogs[rank].append(name, isPublishedByRename ? .publishedByRename : .present) {
            hasLeftOut = true
        }
    }

    private func attend(to name: FileName, isPublishedByRename: Bool, at now: Moment) {
        entries[name] = IntakeEntry(isPublishedByRename: isPublishedByRename, at: now, scan: scan)
        looks.append(name)
    }

    /// Whether another file of a lane may be attended to. Those that settle or cannot be had do not count: they would keep
    /// out what can be taken at once.
    private func hasAttention(for rank: Int) -> Bool {
        looks.count + ready[rank].count < rules.attention
    }

    /// Attends to as many more names as there is attention for, and returns whether there were any.
    @discardableResult
    private func attendToBacklogs(at now: Moment) -> Bool {
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

    /// Takes a hint of a name that is not attended to; it may wait for that.
    private func hintUnattended(_ hint: IntakeHint, _ name: FileName, at now: Moment) {
        let news: IntakeBacklog.News =
            switch hint {
            case .movedIn: .publishedByRename
            case .created, .modified, .closedAfterWrite: .present
            case .goneAway: .gone
            }
        if backlogs[name.lane.rank].note(news, of: name) || hint == .goneAway { return }
        admit(name, isPublishedByRename: hint == .movedIn, at: now)
    }

    /// Begins anew with a file that we put back: it must settle, whatever the watch will say of our own rename.
    private func takeBack(_ name: FileName, as newName: FileName, at now: Moment) {
        if newName != name { answer(name, .gone, at: now) }
        recall(newName, at: now)
        var entry = entries[newName] ?? IntakeEntry(isPublishedByRename: false, at: now, scan: scan)
        entry.homecoming = .unseen
        entry.restart(isPublishedByRename: false, at: now)
        entry.scan = scan
        entries[newName] = entry
        park(newName, until: now + rules.settle)
        release(newName, at: now)
    }

    private func want(_ name: FileName) {
        guard let phase = entries[name]?.phase, phase == .waiting || phase == .ready else { return }
        let ticket = newTicket()
        entries[name]?.phase = .wantsLook
        entries[name]?.ticket = ticket
        looks.append(name)
    }

    /// Waits for a file written in place to settle; a look under way will see to it otherwise.
    private func settle(_ name: FileName) {
        guard let entry = entries[name], entry.phase == .waiting || entry.phase == .ready else { return }
        park(name, until: entry.stableSince + rules.settle)
    }

    /// Decides when a file that was just seen may be taken.
    private func schedule(_ name: FileName, _ entry: IntakeEntry, at now: Moment) {
        switch IntakeJudgement(rules: rules, entry: entry, now: now).readiness(
            isRsyncRunning: rsyncTargets[name] != nil)
        {
        case .now(let order):
            let ticket = newTicket()
            entries[name]?.phase = .ready
            entries[name]?.ticket = ticket
            ready[name.lane.rank].insert(IntakeTurn(order: order, name: name, ticket: ticket))
        case .later(let moment): park(name, until: moment)
        case .failing(let code): conclude(name, .fail(name, code))
        case .special: conclude(name, .moveAsItIs(name))
        }
    }

    private func conclude(_ name: FileName, _ action: IntakeAction) {
        let ticket = newTicket()
        entries[name]?.phase = .taken
        entries[name]?.ticket = ticket
        notices.append(action)
    }

    private func park(_ name: FileName, until moment: Moment) {
        guard entries[name] != nil else { return }
        let ticket = newTicket()
        entries[name]?.phase = .waiting
        entries[name]?.ticket = ticket
        timers.insert(IntakeTimer(moment: moment, name: name, ticket: ticket))
    }

    /// Lets go of a file that was in hand; what the watch said meanwhile counts now.
    private func release(_ name: FileName, at now: Moment) {
        guard let pending = entries[name]?.pending else { return }
        entries[name]?.pending = nil
        if entries[name]?.phase == .taken { entries[name]?.phase = .waiting }
        hint(pending, name, at: now)
    }

    private func back(off entry: inout IntakeEntry, at now: Moment) {
        entry.attempts += 1
        entry.retryAt = now + rules.retry.longestPause(after: entry.attempts)
    }

    private func hintTemporary(_ hint: IntakeHint, of target: FileName) {
        switch hint {
        case .movedIn, .created, .modified, .closedAfterWrite: rsyncTargets[target] = scan
        case .goneAway: rsyncTargets[target] = nil
        }
    }

    private func newTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
}
