/// How many jobs of each app are how old, as qshape(1) of Postfix tells it of mail: what grows old shows at a glance.
package struct AgeShape: Hashable, Sendable {
    /// The first minute that a column does not have; the last column has the rest.
    package static let limits = [5, 10, 20, 40, 80, 160, 320, 640, 1280]
    /// What stands above the columns of a row's counts.
    package static let columns = limits.map(String.init) + ["1280+"]

    /// The jobs of an app.
    package struct Row: Hashable, Sendable {
        /// The app.
        package let app: String
        /// How many there are in each column.
        package var counts = [Int](repeating: 0, count: AgeShape.columns.count)

        /// How many there are.
        package var total: Int { counts.reduce(0, +) }
    }

    private var rowOfApp: [String: Row] = [:]

    /// Creates a shape without apps.
    package init() {}

    /// Counts an app, though it may have no jobs.
    package mutating func add(app: String) {
        if rowOfApp[app] == nil { rowOfApp[app] = Row(app: app) }
    }

    /// Counts a job; one from the future is new.
    package mutating func add(age: Duration, of app: String) {
        let minutes = age.components.seconds / 60
        let column = Self.limits.firstIndex { minutes < $0 } ?? Self.limits.count
        rowOfApp[app, default: Row(app: app)].counts[column] += 1
    }

    /// The apps, those with the most jobs first.
    package var rows: [Row] {
        rowOfApp.values.sorted { ($1.total, $0.app) < ($0.total, $1.app) }
    }

    /// All apps together.
    package var total: Row {
        var sum = Row(app: "TOTAL")
        for row in rowOfApp.values {
            for column in row.counts.indices { sum.counts[column] += row.counts[column] }
        }
        return sum
    }
}
