package import PushModel

/// Writes metrics in the Prometheus text format, version 0.0.4, one family after another.
///
/// The heading of a family is written with its first sample, so that a family without samples is omitted.
package struct MetricsWriter: Sendable {
    /// A label and its value; the value may be any text.
    package typealias Label = (name: String, value: String)

    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    private let common: [UInt8]
    private var family: MetricFamily?
    private var hasHeading = false

    /// Creates an empty text; every sample gets these labels first.
    package init(common labels: Label...) {
        common = Self.list(labels)
    }

    /// Begins a family of the daemon's. Begin each only once, because its samples must be contiguous.
    package mutating func begin(_ metric: Metric) { begin(metric.family) }

    /// Begins a family. Begin each only once, because its samples must be contiguous.
    package mutating func begin(_ family: MetricFamily) {
        (self.family, hasHeading) = (family, false)
    }

    /// Adds a sample to the family.
    package mutating func add(_ value: Int, _ labels: Label...) {
        sample("", Self.list(labels), String(value))
    }

    /// Adds a sample to the family.
    package mutating func add(_ value: Double, _ labels: Label...) {
        sample("", Self.list(labels), Self.text(value))
    }

    /// Adds a time to the family, in seconds since 1970 with millisecond precision; adds nothing for `nil`.
    package mutating func add(_ time: WallTime?, _ labels: Label...) {
        guard let time else { return }
        sample("", Self.list(labels), Self.text(Double(time.nanoseconds / 1_000_000) / 1_000))
    }

    /// Adds all samples of a histogram to the family; adds nothing if the histogram is empty.
    package mutating func add(_ histogram: Histogram, _ labels: Label...) {
        guard histogram.count > 0 else { return }
        let list = Self.list(labels)
        var count = 0
        for (bound, part) in zip(histogram.bounds, histogram.counts) {
            count += part
            sample("_bucket", list + Self.list([("le", Self.text(Double(bound) / 1e9))]), String(count))
        }
        sample("_bucket", list + Self.list([("le", "+Inf")]), String(histogram.count))
        sample("_sum", list, Self.text(histogram.seconds))
        sample("_count", list, String(histogram.count))
    }

    /// Returns the shortest text that reads back as the number; whole numbers have no decimal point.
    static func text(_ number: Double) -> String {
        if let whole = Int(exactly: number) { String(whole) } else { number.description }
    }

    private mutating func sample(_ suffix: String, _ labels: [UInt8], _ value: String) {
        guard let family else { return }
        writeHeading(of: family)
        append(family.name)
        append(suffix)
        if !common.isEmpty || !labels.isEmpty {
            bytes.append(UInt8(ascii: "{"))
            bytes += common
            bytes += labels
            // Each label ends with a comma; the bracket replaces the last one.
            bytes[bytes.count - 1] = UInt8(ascii: "}")
        }
        bytes.append(UInt8(ascii: " "))
        append(value)
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func writeHeading(of family: MetricFamily) {
        guard !hasHeading else { return }
        hasHeading = true
        // The help text is a constant that needs no escaping.
        append("# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n")
    }

    private mutating func append(_ text: String) {
        bytes += text.utf8
    }

    /// Returns `name="value",` for each label, with backslashes, quotes and line feeds escaped.
    private static func list(_ labels: [Label]) -> [UInt8] {
        var list: [UInt8] = []
        for label in labels {
            list += label.name.utf8
            list += "=\"".utf8
            for byte in label.value.utf8 {
                switch byte {
                case UInt8(ascii: "\\"), UInt8(ascii: "\""): list += [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\n"): list += "\\n".utf8
                case _: list.append(byte)
                }
            }
            list += "\",".utf8
        }
        return list
    }
}
