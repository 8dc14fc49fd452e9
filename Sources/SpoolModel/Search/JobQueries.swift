package import Document
package import JobFormat
package import PushModel

/// A list of jobs as operators name them, for finding those that match a job. Costs one or two lookups, however long the list.
package struct JobQueries: Hashable, Sendable {
    /// The jobs, without repetitions.
    package let all: [JobQuery]
    private var byName: [FileName: [Int]] = [:]
    private var byID: [JobID: [Int]] = [:]
    private var byRef: [[UInt8]: [Int]] = [:]
    /// Positions by the bytes of the text: texts that look equal may name two different files.
    private var byText: [[UInt8]: Int] = [:]

    /// Takes the operator's texts; see `JobQuery`.
    package init(_ texts: [String]) {
        var all: [JobQuery] = []
        for text in texts where byText[Array(text.utf8)] == nil {
            let query = JobQuery(text)
            byText[Array(text.utf8)] = all.count
            if let name = query.name { byName[name, default: []].append(all.count) }
            if let id = query.id { byID[id, default: []].append(all.count) }
            byRef[Array(query.ref.utf8), default: []].append(all.count)
            all.append(query)
        }
        self.all = all
    }

    /// Whether the list is empty.
    package var isEmpty: Bool { all.isEmpty }

    /// The file names in the list, each with its app if the text names it.
    package var names: [(name: FileName, app: String?)] {
        all.compactMap { query in query.name.map { (name: $0, app: query.app) } }
    }

    /// Returns the positions of the entries that match this job.
    ///
    /// - Parameters:
    ///   - name: The name of its file, if known.
    ///   - id: Its id, if it has one.
    ///   - app: Its app.
    /// - Returns: Positions in `all`, ascending.
    package func positions(name: FileName?, id: JobID?, app: String) -> [Int] {
        let named = Set(name.flatMap { byName[$0] } ?? []).union(id.flatMap { byID[$0] } ?? [])
        return named.filter { all[$0].app == nil || all[$0].app == app }.sorted()
    }

    /// Returns the positions of the entries that match a job of `app` by its producer's `id:`, ascending in `all`.
    package func positions(ref: String, of app: String) -> [Int] {
        (byRef[Array(ref.utf8)] ?? []).filter { position in
            // Without the prefix `ref:`, a slash belongs to the id.
            let query = all[position]
            return query.app == nil || query.app == app || query.ref == query.text
        }
    }

    /// Returns the positions of the entries that match the job of a feedback line or result file.
    ///
    /// - Parameters:
    ///   - line: The line or file.
    ///   - app: Its app.
    /// - Returns: Positions in `all`, ascending.
    package func positions(by line: Node, of app: String) -> [Int] {
        let name = line["job"]?.string.flatMap { FileName(escaped: $0) }
        var found = Set(positions(name: name, id: line["id"]?.string.flatMap { JobID($0) }, app: app))
        if let ref = line["ref"]?.string { found.formUnion(positions(ref: ref, of: app)) }
        return found.sorted()
    }

    /// Returns whether the list contains this id.
    package func isMeant(_ id: JobID) -> Bool { byID[id] != nil }

    /// Returns the position of the entry with exactly this text, such as an app's name.
    package func position(of text: String) -> Int? { byText[Array(text.utf8)] }
}
