/// A scale from 0 to a round number, with marks at round numbers.
package struct PlotAxis: Hashable, Sendable {
    /// What the marks stand at, 0 and the top included.
    package let ticks: [Double]

    /// The greatest value that has a place.
    package var top: Double { ticks.last ?? 1 }

    /// Makes a scale for values up to `largest`, with about four marks above 0; nothing at all has a scale up to 1.
    ///
    /// - Parameters:
    ///   - largest: The greatest value.
    ///   - isWhole: Whether there are only whole numbers, so that no mark stands between two of them.
    package init(upTo largest: Double, isWhole: Bool) {
        let largest = largest.isFinite && largest > 1e-9 ? largest : 1
        var magnitude = 1.0
        while magnitude * 10 <= largest / 4 { magnitude *= 10 }
        while magnitude > largest / 4 { magnitude /= 10 }
        let steps = [1, 2, 5, 10].map { $0 * magnitude }
        let fitting = steps.first { $0 * 4 >= largest } ?? magnitude * 10
        let step = isWhole ? max(1, fitting) : fitting
        let count = max(1, Int((largest / step).rounded(.up)))
        ticks = (0...count).map { Double($0) * step }
    }

    /// Returns where a value stands, from 0 to 1.
    package func fraction(of value: Double) -> Double { min(1, max(0, value / top)) }
}
