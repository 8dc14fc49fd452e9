/// A scale from 0 to a round number, with ticks at round numbers.
package struct PlotAxis: Hashable, Sendable {
    /// The values of the ticks, including 0 and the top.
    package let ticks: [Double]

    /// The greatest value on the axis.
    package var top: Double { ticks.last ?? 1 }

    /// Creates a scale for values up to `largest`, with about four ticks above 0. If `largest` is 0, the scale ends at 1.
    ///
    /// - Parameters:
    ///   - largest: The greatest value.
    ///   - isWhole: Whether all values are whole numbers, so that all ticks must be.
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

    /// Returns the position of a value, from 0 to 1.
    package func fraction(of value: Double) -> Double { min(1, max(0, value / top)) }
}
