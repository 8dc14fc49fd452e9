import PushModel
import ServiceProcess

/// A gateway's share of its app's rate: the nodes of a cluster divide it equally.
struct RateShare {
    /// The app's rate, if there is one.
    var whole: Rate? { didSet { apply() } }
    /// Among how many senders it is divided.
    var senderCount = 1 { didSet { apply() } }
    /// Enforces the share; `nil` without a rate.
    fileprivate var bucket: TokenBucket?
    /// What the gateway says about the app's quota.
    fileprivate var quota = QuotaPacing()

    /// If the share is unchanged, the bucket keeps its level.
    private mutating func apply() {
        let rate = whole?.divided(by: senderCount)
        guard bucket?.rate != rate else { return }
        bucket = rate.map { TokenBucket($0, emptyAt: .now) }
    }
}

extension GatewayState {
    /// Sets or clears the app's rate.
    func keep(_ rate: Rate?) {
        guard self.rate.whole != rate else { return }
        self.rate.whole = rate
        wakeSleepers()
    }

    /// Divides the app's rate among this many senders, of which this gateway is one.
    func shareRate(among count: Int) {
        guard rate.senderCount != count else { return }
        rate.senderCount = count
        wakeSleepers()
    }

    /// The number of notifications that the rate allows now.
    var rateRoom: Int {
        let now = Moment.now
        return min(rate.bucket?.available(at: now) ?? .max, rate.quota.available(at: now))
    }

    /// Takes `count` written notifications from the rate's bucket.
    func spend(_ count: Int) {
        guard count > 0 else { return }
        let now = Moment.now
        rate.bucket?.record(count, at: now)
        rate.quota.record(count, at: now)
    }

    /// Lets the app wait, because its quota is used up, and go on slowly then.
    func hold(_ fault: GatewayFault, for length: Duration) {
        let now = Instant(.now, .now)
        let isNews = rate.quota.refused(for: length, rate: rate.bucket?.rate, at: now.moment)
        meter.note(quotaHoldEnd: now.wall + (rate.quota.next(at: now.moment) - now.moment))
        if isNews { report(.troubled(fault, pause: length)) }
    }

    /// Lets the app go on at its full pace.
    func endHold() {
        rate.quota.end()
        meter.note(quotaHoldEnd: nil)
    }

    /// When the rate allows more of the `count` waiting notifications; `nil` if they do not wait for the rate.
    func rateDeadline(for count: Int) -> ContinuousClock.Instant? {
        guard count > 0 else { return nil }
        let now = Moment.now
        if rate.quota.available(at: now) == 0 { return rate.quota.next(at: now).instant }
        guard let bucket = rate.bucket, bucket.available(at: now) == 0 else { return nil }
        return bucket.next(for: count).instant
    }
}
