/// A table of a report, which can be wider than the page.
struct ReportTable {
    /// What stands above the columns.
    let header: [String]
    /// The cells, row by row.
    let rows: [[String]]
    /// The columns of numbers, which stand to the right.
    let numbers: Set<Int>
    /// The columns of times, which are not broken into lines.
    var times: Set<Int> = []

    /// Writes it.
    func write(on page: inout Markup) {
        page.element("div", ["class": "wide"]) { page in
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
                page.element(element, ["class": style], text: cell)
            }
        }
    }
}

/// A drawing of a report with its title, what its colours stand for, and the same as a table for those who cannot see it.
struct ReportFigure {
    /// What it shows.
    let title: String
    /// What it shows, in numbers.
    let table: ReportTable
    /// The styles of what is drawn, and what they stand for.
    var legend: [(name: String, style: String)] = []
    /// A sentence below it.
    var note: String?

    /// Writes it, with what `drawing` draws.
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
