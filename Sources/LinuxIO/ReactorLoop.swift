import CLinux
import Glibc

/// The reactor's inside: the epoll loop, the deadlines, and the table of registrations.
///
/// Unchecked because it is touched by the reactor's thread alone; whoever could come from elsewhere asks
/// `Reactor.preconditionIsolated` first.
@safe final class ReactorLoop: @unchecked Sendable {
    private let inbox: ReactorInbox
    private let epoll: Descriptor
    /// Rings at the earliest deadline; CLOCK_BOOTTIME, so that a suspended machine's time counts.
    private let timer: Descriptor
    private var armed: ContinuousClock.Instant?
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: 256)
    private var jobs: [UnownedJob] = []
    private var requests: [ReactorInbox.Request] = []
    private var registrations: [UInt64: Registration] = [:]
    private var nextTag: UInt64 = 2
    private var yielding: [Registration] = []
    private var released: [(job: UnownedJob, gate: Registration)] = []
    var deadlines = DeadlineHeap()
    /// Counts the rounds of jobs, then events: what makes a wait fair.
    private(set) var turn: UInt64 = 0
    private(set) var isStopping = false

    private static let bellTag: UInt64 = 0
    private static let timerTag: UInt64 = 1
    /// Rounds of jobs that may beget jobs before the descriptors get their turn.
    private static let jobRounds = 8

    init(inbox: ReactorInbox) throws(SystemError) {
        let rawEpoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard rawEpoll >= 0 else { throw .last("epoll_create1") }
        self.inbox = inbox
        epoll = Descriptor(adopting: rawEpoll)
        let rawTimer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard rawTimer >= 0 else { throw .last("timerfd_create") }
        timer = Descriptor(adopting: rawTimer)
        // Edge-triggered: each ring and each expiry is an edge of its own, so neither has to be read.
        try watch(inbox.bell.rawValue, tag: Self.bellTag, for: clinux_epoll_in | clinux_epoll_edge)
        try watch(timer.rawValue, tag: Self.timerTag, for: clinux_epoll_in | clinux_epoll_edge)
    }

    /// Runs jobs and waits for events until asked to stop, and then until nothing is left to do.
    func run(on executor: UnownedSerialExecutor) {
        while true {
            turn += 1
            unsafe runJobs(on: executor)
            expireDeadlines()
            if isStopping && released.isEmpty && inbox.close() { return }
            let maySleep = yielding.isEmpty && released.isEmpty && inbox.fallAsleep(until: awakeAt)
            if maySleep { armTimer() }
            poll(maySleep: maySleep)
            if maySleep { inbox.awaken() }
            settleYielding()
        }
    }

    /// Makes a registration that only deadlines and wakes concern.
    func register() -> Registration {
        let registration = Registration(loop: self, tag: nextTag)
        registrations[nextTag] = registration
        nextTag += 1
        return registration
    }

    /// Makes a registration, and has epoll watch `descriptor` for all it can tell, edge by edge.
    ///
    /// - Throws: `SystemError`: EPERM for a descriptor that is always ready (a plain file), ENOSPC or ENOMEM
    ///   when a limit is reached.
    func register(watching descriptor: Int32) throws(SystemError) -> Registration {
        let kinds = clinux_epoll_in | clinux_epoll_out | clinux_epoll_rdhup | clinux_epoll_edge
        try watch(descriptor, tag: nextTag, for: kinds)
        return register()
    }

    /// Sees to it that the wait that `registration` began will be settled.
    func suspend(_ registration: Registration, until deadline: ContinuousClock.Instant?) {
        registration.suspend()
        if isStopping {
            registration.settle(.cancelled)
        } else if registration.isYielding {
            yielding.append(registration)
        } else if let deadline {
            deadlines.insert(registration, at: deadline)
        }
    }

    /// Queues a job that has left its gate.
    func release(_ job: UnownedJob, from registration: Registration) {
        released.append((job, registration))
    }

    /// Stops epoll's watch. For the owner's `deinit`, on any thread, just before the descriptor closes.
    func unwatch(_ descriptor: Int32) {
        // epoll_ctl(2) is safe from any thread; it fails only if the descriptor is not watched, which is the aim.
        _ = clinux_epoll_control(epoll.rawValue, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    private func watch(_ descriptor: Int32, tag: UInt64, for kinds: UInt32) throws(SystemError) {
        guard clinux_epoll_control(epoll.rawValue, EPOLL_CTL_ADD, descriptor, kinds, tag) == 0 else {
            throw .last("epoll_ctl", "EPOLL_CTL_ADD")
        }
    }

    private func runJobs(on executor: UnownedSerialExecutor) {
        for _ in 0..<Self.jobRounds {
            runReleased()
            inbox.take(jobs: &jobs, requests: &requests)
            if jobs.isEmpty && requests.isEmpty { return }
            for request in requests { carryOut(request) }
            requests.removeAll(keepingCapacity: true)
            for job in jobs { unsafe job.runSynchronously(on: executor) }
            jobs.removeAll(keepingCapacity: true)
        }
    }

    /// Runs what has left its gate, each just up to its return to the reactor's queue.
    private func runReleased() {
        var index = 0
        while index < released.count {
            let (job, gate) = released[index]
            unsafe job.runSynchronously(on: gate.asUnownedSerialExecutor())
            index += 1
        }
        released.removeAll(keepingCapacity: true)
    }

    private func carryOut(_ request: ReactorInbox.Request) {
        switch request {
        case .startSleep(let sleep, let continuation, let deadline):
            if isStopping { sleep.cancel() }
            if sleep.begin(continuation) { deadlines.insert(sleep, at: deadline) }
        case .cancelSleep(let sleep):
            deadlines.remove(sleep)
            sleep.cancel()
        case .setAlarm(let alarm, let deadline):
            if isStopping { alarm.reactorStopped() } else { deadlines.insert(alarm, at: deadline) }
        case .wake(let registration):
            registration.wake()
        case .cancelWait(let registration, let number):
            if registration.waitNumber == number { registration.settle(.cancelled) }
        case .retire(let registration):
            registrations[registration.tag] = nil
        case .stop:
            stop()
        }
    }

    /// Ends every wait and every sleep, those to come as well.
    private func stop() {
        isStopping = true
        for registration in registrations.values { registration.settle(.cancelled) }
        while let entry = deadlines.popAny() {
            if let sleep = entry as? Sleep { sleep.cancel() }
            if let alarm = entry as? AlarmEntry { alarm.reactorStopped() }
        }
    }

    private func settleYielding() {
        guard !yielding.isEmpty else { return }
        for registration in yielding { registration.settleYield() }
        yielding.removeAll(keepingCapacity: true)
    }
}

extension ReactorLoop {
    private func expireDeadlines() {
        guard deadlines.earliest != nil else { return }
        let now = ContinuousClock.now
        while let entry = deadlines.popExpired(at: now) { entry.deadlinePassed() }
    }

    /// When the timer rings, once `armTimer` has seen to it.
    private var awakeAt: ContinuousClock.Instant? {
        guard let armed, let earliest = deadlines.earliest else { return armed ?? deadlines.earliest }
        return min(armed, earliest)
    }

    /// Sets the timer to the earliest deadline, unless it is set to an earlier instant already: then it rings once
    /// for nothing, which is cheaper than a system call for each deadline that moves away.
    private func armTimer() {
        guard let earliest = deadlines.earliest else { return }
        if let armed, armed <= earliest { return }
        let (seconds, attoseconds) = max(earliest - .now, .nanoseconds(1)).components
        let nanoseconds = max(Int(attoseconds / 1_000_000_000), seconds == 0 ? 1 : 0)
        let code = clinux_set_timer(timer.rawValue, seconds, nanoseconds)
        precondition(code == 0, "timerfd_settime refuses a valid time")
        armed = earliest
    }

    /// Takes events from epoll, sleeping for them if it may.
    private func poll(maySleep: Bool) {
        let count = unsafe epoll_wait(epoll.rawValue, &events, Int32(events.count), maySleep ? -1 : 0)
        guard count >= 0 else {
            precondition(errno == EINTR, "epoll_wait fails on its own descriptor")
            return
        }
        for index in 0..<Int(count) {
            // A copy: the C struct is packed, so its fields are read through inlines.
            var event = unsafe events[index]
            let tag = unsafe clinux_epoll_tag(&event)
            let bits = unsafe clinux_epoll_events(&event)
            dispatch(tag: tag, events: bits)
        }
    }

    private func dispatch(tag: UInt64, events: UInt32) {
        switch tag {
        case Self.bellTag: return
        case Self.timerTag: armed = nil
        default:
            registrations[tag]?.noteEvents(Self.readiness(of: events), streamEnded: events & clinux_epoll_rdhup != 0)
        }
    }

    private static func readiness(of events: UInt32) -> Readiness {
        var readiness: Readiness = []
        if events & (clinux_epoll_in | clinux_epoll_rdhup) != 0 { readiness.insert(.readable) }
        if events & clinux_epoll_out != 0 { readiness.insert(.writable) }
        if events & (clinux_epoll_hup | clinux_epoll_err) != 0 {
            readiness.formUnion([.readable, .writable, .hangup])
        }
        return readiness
    }
}
