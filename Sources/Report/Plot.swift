import SpoolModel

/// The frame of a plot: an area with a scale on its left and marks below it, in units of a picture 720 wide.
struct Plot {
    /// The width of every picture.
    static let width = 720.0
    private static let left = 56.0
    private static let right = 10.0
    private static let top = 10.0
    private static let bottom = 26.0

    /// The number of the picture, unique within the page.
    let number: Int
    /// The title, for screen readers and as a tooltip.
    let title: String
    /// A summary in one sentence.
    let summary: String
    /// The height of the picture.
    let height: Double
    /// The scale on the left.
    let axis: PlotAxis

    /// The horizontal position of a fraction of the width.
    func x(_ fraction: Double) -> Double {
        Self.left + fraction * (Self.width - Self.left - Self.right)
    }

    /// The vertical position of a value.
    func y(_ value: Double) -> Double {
        Self.top + (1 - axis.fraction(of: value)) * (height - Self.top - Self.bottom)
    }

    /// Draws the frame, with the content that `body` draws.
    ///
    /// - Parameters:
    ///   - page: The page to draw on.
    ///   - ticks: The marks below the plot.
    ///   - unit: The suffix of numbers on the scale, such as `/s`.
    ///   - body: Draws the content.
    func draw(
        on page: inout Markup, ticks: [TimeBuckets.Tick], unit: String = "", _ body: (inout Markup) -> Void
    ) {
        picture(on: &page) { page in
            for tick in axis.ticks {
                let level = y(tick)
                line(&page, "grid", from: (x(0), level), to: (x(1), level))
                label(&page, ReportWords.short(tick) + unit, at: (x(0) - 6, level + 4), anchor: "end")
            }
            body(&page)
            line(&page, "base", from: (x(0), y(0)), to: (x(1), y(0)))
            for tick in ticks {
                let place = x(tick.fraction)
                line(&page, "base", from: (place, y(0)), to: (place, y(0) + 4))
                let anchor = tick.fraction > 0.98 ? "end" : "middle"
                label(&page, tick.label, at: (place, height - 3), anchor: anchor)
            }
        }
    }

    /// Draws the content of `body` as a picture with title and description.
    func picture(on page: inout Markup, _ body: (inout Markup) -> Void) {
        let (titleID, summaryID) = ("t\(number)", "d\(number)")
        page.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 720 \(ReportWords.coordinate(height))",
                "role": "img", "aria-labelledby": "\(titleID) \(summaryID)",
            ]
        ) { page in
            page.element("title", ["id": titleID], text: title)
            page.element("desc", ["id": summaryID], text: summary)
            body(&page)
        }
    }

    /// Draws stacked columns, with a tooltip for each.
    ///
    /// - Parameters:
    ///   - page: The page to draw on.
    ///   - columns: The values of each column, from the bottom up.
    ///   - classes: The style of each value.
    ///   - words: Returns the tooltip of a column.
    func bars(
        on page: inout Markup, _ columns: [[Double]], classes: [String], words: (Int) -> String
    ) {
        let step = (x(1) - x(0)) / Double(max(1, columns.count))
        let gap = step > 24 ? 4.0 : step > 4 ? 1 : 0
        for (column, values) in columns.enumerated() where values.contains(where: { $0 > 0 }) {
            let left = x(Double(column) / Double(columns.count)) + gap / 2
            var below = 0.0
            page.element("g") { page in
                page.element("title", text: words(column))
                for (value, style) in zip(values, classes) where value > 0 {
                    let (low, high) = (y(below), y(below + value))
                    rectangle(&page, style, (left, high), (step - gap, low - high))
                    below += value
                }
                // The tooltip appears over the full height of the column.
                rectangle(&page, "hit", (left, y(axis.top)), (step - gap, y(0) - y(axis.top)))
            }
        }
    }

    /// Draws a line through the middle of each column, or through all of a single one, and fills the area below it.
    func line(on page: inout Markup, _ values: [Double]) {
        guard let first = values.first else { return }
        let places = values.count == 1 ? [0, 1] : values.indices.map { (Double($0) + 0.5) / Double(values.count) }
        let points = zip(places, values.count == 1 ? [first, first] : values).map { place, value in
            "\(ReportWords.coordinate(x(place))) \(ReportWords.coordinate(y(value)))"
        }
        let ends = [places[0], places[places.count - 1]].map { ReportWords.coordinate(x($0)) }
        let ground = ReportWords.coordinate(y(0))
        let path = "M" + points.joined(separator: " L")
        page.void("path", ["class": "area", "d": "\(path) L\(ends[1]) \(ground) L\(ends[0]) \(ground) Z"])
        page.void("path", ["class": "line", "d": path])
    }

    private func rectangle(
        _ page: inout Markup, _ style: String, _ corner: (x: Double, y: Double), _ size: (Double, Double)
    ) {
        page.void(
            "rect",
            [
                "class": style, "x": ReportWords.coordinate(corner.x), "y": ReportWords.coordinate(corner.y),
                "width": ReportWords.coordinate(max(0.5, size.0)), "height": ReportWords.coordinate(max(0, size.1)),
            ])
    }

    private func line(
        _ page: inout Markup, _ style: String, from: (x: Double, y: Double), to: (x: Double, y: Double)
    ) {
        page.void(
            "line",
            [
                "class": style, "x1": ReportWords.coordinate(from.x), "y1": ReportWords.coordinate(from.y),
                "x2": ReportWords.coordinate(to.x), "y2": ReportWords.coordinate(to.y),
            ])
    }

    private func label(_ page: inout Markup, _ text: String, at place: (x: Double, y: Double), anchor: String) {
        page.element(
            "text",
            [
                "x": ReportWords.coordinate(place.x), "y": ReportWords.coordinate(place.y), "text-anchor": anchor,
            ], text: text)
    }
}

extension Plot {
    /// Horizontal bars in rows, each with a name above and a number on the right.
    struct Rows {
        private static let rowHeight = 56.0
        private static let barTop = 32.0
        private static let barHeight = 16.0
        private static let numberWidth = 130.0
        /// The longest name, in characters. Its text must fit where the page is narrow and letters are large.
        private static let nameLimit = 48

        /// The number of the picture, unique within the page.
        let number: Int
        /// The title.
        let title: String
        /// The name, number and style of each bar.
        let rows: [(name: String, count: Int, style: String)]

        /// Draws the bars.
        func draw(on page: inout Markup) {
            let height = Self.rowHeight * Double(max(1, rows.count))
            let most = Double(max(1, rows.map(\.count).max() ?? 1))
            let words = rows.prefix(3).map { "\($0.name) \(ReportWords.count($0.count))" }.joined(separator: ", ")
            let frame = Plot(
                number: number, title: title, summary: "Most frequent: \(words).", height: height,
                axis: PlotAxis(upTo: most, isWhole: true))
            frame.picture(on: &page) { page in
                for (place, row) in rows.enumerated() {
                    draw(row, at: Double(place) * Self.rowHeight, share: Double(row.count) / most, on: &page)
                }
            }
        }

        private func draw(
            _ row: (name: String, count: Int, style: String), at top: Double, share: Double, on page: inout Markup
        ) {
            let width = share * (Plot.width - Self.numberWidth)
            let isLong = row.name.count > Self.nameLimit
            let name = isLong ? String(row.name.prefix(Self.nameLimit - 1)) + "…" : row.name
            let middle = ReportWords.coordinate(top + Self.barTop + Self.barHeight / 2 + 7)
            page.element("g") { page in
                page.element("title", text: "\(row.name): \(ReportWords.count(row.count))")
                let line = ReportWords.coordinate(top + Self.barTop - 8)
                page.element("text", ["class": "name", "x": "0", "y": line], text: name)
                page.void(
                    "rect",
                    [
                        "class": row.style, "x": "0", "rx": "2", "y": ReportWords.coordinate(top + Self.barTop),
                        "width": ReportWords.coordinate(max(1, width)),
                        "height": ReportWords.coordinate(Self.barHeight),
                    ])
                let behind = ReportWords.coordinate(width + 6)
                page.element("text", ["x": behind, "y": middle], text: ReportWords.count(row.count))
            }
        }
    }
}
