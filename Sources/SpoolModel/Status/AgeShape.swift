/// The number of jobs by app and age, like qshape(1) of Postfix for mail, so that aging jobs stand out.
package struct AgeShape: Hashable, Sendable {
    /// The upper bounds of the columns in minutes, not included; the last column has all older jobs.
    package static let limits = [5, 10, 20, 40, 80, 160, 320, 640, 1280]
    /// The headings of the columns.
    package static let columns = limits.map(String.init) + ["1280+"]

    /// The jobs of an app.
    package struct Row: Hashable, Sendable {
        /// The app.
        package let app: String
        /// The number of jobs in each column.
        package var counts = [Int](repeating: 0, count: AgeShape.columns.count)

        /// The number of all jobs.
        package var total: Int { counts.reduce(0, +) }
    }

    private var rowOfApp: [String: Row] = [:]

    /// Creates a table without apps.
    package init() {}

    /// Adds an app, which need not have jobs.
    package mutating func add(app: String) {
        if rowOfApp[app] == nil { rowOfApp[app] = Row(app: app) }
    }

    /// Adds a job. A negative age counts as new.
    package mutating func add(age: Duration, of app: String) {
        let minutes = age.components.seconds / 60
        let column = Self.limits.firstIndex { minutes < $0 } ?? Self.limits.count
        rowOfApp[app, default: Row(app: app)].counts[column] += 1
    }

    /// The apps, those with the most jobs first.
    package var rows: [Row] {
        rowOfApp.values.sorted { ($1.total, $0.app) < ($0.total, $1.app) }
    }

    /// The sum of all apps.
    package var total: Row {
        var sum = Row(app: "TOTAL")
        for row in rowOfApp.values {
            for column in row.counts.indices { sum.counts[column] += row.counts[column] }
        }
        return sum
    }
}
