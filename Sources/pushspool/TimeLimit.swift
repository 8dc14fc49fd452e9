import ArgumentParser
import Document

/// A duration given by an option: `30` or `30s`, `5m`, `4h`; in whole seconds, rounded up.
struct TimeLimit: ExpressibleByArgument, Equatable {
    /// The time in seconds.
    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    init?(argument: String) {
        if let seconds = Int(argument) {
            guard seconds >= 0 else { return nil }
            self.seconds = seconds
        } else if let duration = try? DurationText.parse(argument) {
            let (whole, rest) = duration.components
            seconds = Int(whole) + (rest > 0 ? 1 : 0)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { "\(seconds)" }
}
