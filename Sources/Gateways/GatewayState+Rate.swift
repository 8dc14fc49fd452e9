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
    var rateRoom: Int { rate.bucket?.available(at: .now) ?? .max }

    /// Takes `count` written notifications from the rate's bucket.
    func spend(_ count: Int) {
        if count > 0 { rate.bucket?.record(count, at: .now) }
    }

    /// When the rate allows more of the `count` waiting notifications; `nil` if they do not wait for the rate.
    func rateDeadline(for count: Int) -> ContinuousClock.Instant? {
        guard let bucket = rate.bucket, count > 0, bucket.available(at: .now) == 0 else { return nil }
        return bucket.next(for: count).instant
    }
}
