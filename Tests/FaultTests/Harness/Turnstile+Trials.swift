import TestSupport

extension Turnstile {
    /// How many trials run at a time.
    static let trials = Turnstile(places: 5)
}
