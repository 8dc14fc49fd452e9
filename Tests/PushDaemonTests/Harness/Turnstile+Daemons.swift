import TestSupport

extension Turnstile {
    /// How many daemons run at a time.
    static let daemons = Turnstile(places: 6)
}
