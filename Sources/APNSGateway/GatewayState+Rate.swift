import APNSModel

extension GatewayState {
    /// Sets or clears the rate. If it is unchanged, the bucket keeps its level.
    func keep(_ rate: Rate?) {
        guard bucket?.rate != rate else { return }
        bucket = rate.map { TokenBucket($0, emptyAt: .now) }
        wakeSleepers()
    }

    /// The number of notifications that the rate allows now.
    var rateRoom: Int { bucket?.available(at: .now) ?? .max }

    /// Takes `count` written notifications from the rate's bucket.
    func spend(_ count: Int) {
        if count > 0 { bucket?.take(count, at: .now) }
    }

    /// When the rate allows more of the `count` waiting notifications; `nil` if they do not wait for the rate.
    func rateDeadline(for count: Int) -> ContinuousClock.Instant? {
        guard let bucket, count > 0, bucket.available(at: .now) == 0 else { return nil }
        return bucket.next(for: count).instant
    }
}
