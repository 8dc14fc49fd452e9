import CLinux
import Glibc

/// The core of the reactor: the epoll loop, the deadlines, and the table of registrations.
///
/// Unchecked because only the reactor's thread touches it. Entry points that other threads could reach check
/// `Reactor.preconditionIsolated` first.
@safe final class ReactorLoop: @unchecked Sendable {
    private let inbox: ReactorInbox
    private let epoll: Descriptor
    /// Fires at the earliest deadline. Uses CLOCK_BOOTTIME, so that time during which the machine is suspended counts.
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
    /// The bytes of the latest read, of any socket: a buffer for each would be most of what an idle connection takes.
    var arriving = [UInt8].readBuffer(byteCount: 65_536)
    /// Counts the rounds of jobs followed by events. Used to keep waits fair.
    private(set) var turn: UInt64 = 0
    private(set) var isStopping = false

    private static let bellTag: UInt64 = 0
    private static let timerTag: UInt64 = 1
    /// How many rounds of jobs, including jobs that earlier rounds enqueued, may run before descriptors are polled.
    private static let jobRounds = 8

    init(inbox: ReactorInbox) throws(SystemError) {
        let rawEpoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard rawEpoll >= 0 else { throw .last("epoll_create1") }
        self.inbox = inbox
        epoll = Descriptor(adopting: rawEpoll)
        let rawTimer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard rawTimer >= 0 else { throw .last("timerfd_create") }
        timer = Descriptor(adopting: rawTimer)
        // Edge-triggered: each ring and each expiry is a separate edge, so neither has to be read.
        try watch(inbox.wakeup.rawValue, tag: Self.bellTag, for: clinux_epoll_in | clinux_epoll_edge)
        try watch(timer.rawValue, tag: Self.timerTag, for: clinux_epoll_in | clinux_epoll_edge)
    }

    /// Runs jobs and waits for events until asked to stop, and then until no work is left.
    func run(on executor: UnownedSerialExecutor) {
        while true {
            turn += 1
            unsafe runJobs(on: executor)
            if isStopping && released.isEmpty && inbox.close() { return }
            let maySleep = yielding.isEmpty && released.isEmpty && inbox.fallAsleep(until: awakeAt)
            if maySleep { armTimer() }
            poll(maySleep: maySleep)
            if maySleep { inbox.awaken() }
            expireDeadlines()
            settleYielding()
        }
    }

    /// Creates a registration without a descriptor, for deadlines and wakeups only.
    func register() -> Registration {
        register(nil)
    }

    private func register(_ descriptor: Int32?) -> Registration {
        let registration = Registration(loop: self, tag: nextTag, descriptor)
        registrations[nextTag] = registration
        nextTag += 1
        return registration
    }

    /// Creates a registration and makes epoll watch `descriptor` for all events, edge-triggered.
    ///
    /// - Throws: `SystemError`: EPERM for a descriptor that is always ready (a regular file), ENOSPC or ENOMEM if a
    ///   limit is reached.
    func register(watching descriptor: Int32) throws(SystemError) -> Registration {
        let kinds = clinux_epoll_in | clinux_epoll_out | clinux_epoll_rdhup | clinux_epoll_edge
        try watch(descriptor, tag: nextTag, for: kinds)
        return register(descriptor)
    }

    /// Arranges for the wait that `registration` began to be settled.
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

    /// Removes a descriptor from epoll. Called by the owner's `deinit`, on any thread, just before the descriptor is closed.
    func unwatch(_ descriptor: Int32) {
        // epoll_ctl(2) is thread-safe. It fails only if the descriptor is not watched, which is the goal.
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

    /// Runs the jobs that have left their gates. Each runs only up to its return to the reactor's queue.
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

    /// Ends every wait and every sleep, now and in the future.
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

    /// When the timer will fire, once `armTimer` has run.
    private var awakeAt: ContinuousClock.Instant? {
        guard let armed, let earliest = deadlines.earliest else { return armed ?? deadlines.earliest }
        return min(armed, earliest)
    }

    /// Sets the timer to the earliest deadline, unless it is already set to an earlier instant. In that case one
    /// spurious wakeup is cheaper than a system call for each deadline that moves away.
    private func armTimer() {
        guard let earliest = deadlines.earliest else { return }
        if let armed, armed <= earliest { return }
        let (seconds, attoseconds) = max(earliest - .now, .nanoseconds(1)).components
        let nanoseconds = max(Int(attoseconds / 1_000_000_000), seconds == 0 ? 1 : 0)
        let code = clinux_set_timer(timer.rawValue, seconds, nanoseconds)
        precondition(code == 0, "timerfd_settime refuses a valid time")
        armed = earliest
    }

    /// Takes events from epoll. Sleeps until one arrives if `maySleep`.
    private func poll(maySleep: Bool) {
        let count = unsafe epoll_wait(epoll.rawValue, &events, Int32(events.count), maySleep ? -1 : 0)
        guard count >= 0 else {
            precondition(errno == EINTR, "epoll_wait fails on its own descriptor")
            return
        }
        for index in 0..<Int(count) {
            // A copy, because the C struct is packed and its fields are read through inlines.
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
