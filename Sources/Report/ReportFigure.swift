/// A table of a report, which may be wider than the page.
struct ReportTable {
    /// The headings of the columns.
    let header: [String]
    /// The cells, row by row.
    let rows: [[String]]
    /// The columns of numbers, which are aligned right.
    let numbers: Set<Int>
    /// The columns of times, in which lines are not wrapped.
    var times: Set<Int> = []

    /// Whether each row becomes a block of named cells where the page is narrow.
    private var isStacked: Bool { header.count > 3 }

    /// Writes the table.
    func write(on page: inout Markup) {
        page.element("div", ["class": isStacked ? "wide stack" : "wide"]) { page in
            page.element("table") { page in
                page.element("thead") { writeRow(&$0, header, "th") }
                page.element("tbody") { page in
                    for row in rows { writeRow(&page, row, "td") }
                }
            }
        }
    }

    private func writeRow(_ page: inout Markup, _ cells: [String], _ element: String) {
        page.element("tr") { page in
            for (column, cell) in cells.enumerated() {
                let style = numbers.contains(column) ? "n" : times.contains(column) ? "d" : "t"
                if isStacked, element == "td" {
                    page.element(element, ["class": style, "data-label": header[column]], text: cell)
                } else {
                    page.element(element, ["class": style], text: cell)
                }
            }
        }
    }
}

/// A plot of a report with its title and legend, and the same data as a table for readers who cannot see the plot.
struct ReportFigure {
    /// The title.
    let title: String
    /// The data as a table.
    let table: ReportTable
    /// The legend: the meaning of each style in the plot.
    var legend: [(name: String, style: String)] = []
    /// A sentence below the plot.
    var note: String?

    /// Writes the figure, with the content that `drawing` draws.
    func write(on page: inout Markup, _ drawing: (inout Markup) -> Void) {
        page.element("figure", ["class": "card"]) { page in
            page.element("figcaption") { $0.element("h3", text: title) }
            drawing(&page)
            if !legend.isEmpty { page.element("ul", ["class": "legend"]) { writeLegend(&$0) } }
            if let note { page.element("p", ["class": "soft"], text: note) }
            page.element("details") { page in
                page.element("summary", text: "As a table")
                table.write(on: &page)
            }
        }
    }

    private func writeLegend(_ page: inout Markup) {
        for entry in legend {
            page.element("li") { page in
                page.element("span", ["class": entry.style], text: "")
                page.write(entry.name)
            }
        }
    }
}
