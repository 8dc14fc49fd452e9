/// A time on two clocks: the one that measures pauses, and wall time.
package struct Instant: Hashable, Sendable {
    /// For pauses and give-up times.
    package let moment: Moment
    /// For expiration times.
    package let wall: WallTime

    /// Creates an instant.
    package init(_ moment: Moment, _ wall: WallTime) {
        (self.moment, self.wall) = (moment, wall)
    }
}
