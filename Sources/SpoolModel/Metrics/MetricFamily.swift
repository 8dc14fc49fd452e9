/// The heading of samples in the Prometheus text format: a name, and what it counts.
package struct MetricFamily: ExpressibleByStringLiteral, Hashable, Sendable {
    /// The Prometheus type of a metric.
    package enum Kind: String, Hashable, Sendable {
        /// A value that goes up and down.
        case gauge
        /// A value that only grows, starting at zero with the process.
        case counter
        /// Counts by upper bound, and their sum.
        case histogram
    }

    /// The name.
    package let name: String
    /// The help text, one line without backslashes.
    package let help: String

    /// Creates a family from its name, a colon, a blank and its help text.
    package init(stringLiteral text: String) {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        (name, help) = (String(text[..<colon]), String(text[colon...].dropFirst(2)))
    }

    /// The type, determined by the name.
    package var kind: Kind {
        if name.hasSuffix("_total") { return .counter }
        return name.hasSuffix("_duration_seconds") ? .histogram : .gauge
    }
}
