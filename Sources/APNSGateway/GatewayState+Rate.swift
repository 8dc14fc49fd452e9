import APNSModel

extension GatewayState {
    /// Keeps another rate from now on, or none; the same one goes on as it is.
    func keep(_ rate: Rate?) {
        guard bucket?.rate != rate else { return }
        bucket = rate.map { TokenBucket($0, emptyAt: .now) }
        wakeSleepers()
    }

    /// How many notifications the rate lets go now.
    var rateRoom: Int { bucket?.available(at: .now) ?? .max }

    /// Notes that so many were written.
    func spend(_ count: Int) {
        if count > 0 { bucket?.take(count, at: .now) }
    }

    /// When the rate lets more of `count` go that wait; `nil` when it is not the rate that they wait for.
    func rateDeadline(for count: Int) -> ContinuousClock.Instant? {
        guard let bucket, count > 0, bucket.available(at: .now) == 0 else { return nil }
        return bucket.next(for: count).instant
    }
}
