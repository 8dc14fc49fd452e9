package import APNSModel
package import Document

/// Many jobs as somebody names them, for finding those that one is meant by: costs a look or two, however many they are.
package struct JobWishes: Hashable, Sendable {
    /// What was written, each once.
    package let all: [JobWish]
    private var byName: [FileName: [Int]] = [:]
    private var byID: [JobID: [Int]] = [:]
    private var byRef: [[UInt8]: [Int]] = [:]
    /// By the bytes that were written: texts that look the same may be the names of two files.
    private var byText: [[UInt8]: Int] = [:]

    /// Takes what somebody wrote; see `JobWish`.
    package init(_ texts: [String]) {
        var all: [JobWish] = []
        for text in texts where byText[Array(text.utf8)] == nil {
            let wish = JobWish(text)
            byText[Array(text.utf8)] = all.count
            if let name = wish.name { byName[name, default: []].append(all.count) }
            if let id = wish.id { byID[id, default: []].append(all.count) }
            byRef[Array(wish.ref.utf8), default: []].append(all.count)
            all.append(wish)
        }
        self.all = all
    }

    /// Whether nothing was written.
    package var isEmpty: Bool { all.isEmpty }

    /// The names among them, each with its app if that was written.
    package var names: [(name: FileName, app: String?)] {
        all.compactMap { wish in wish.name.map { (name: $0, app: wish.app) } }
    }

    /// Returns the positions of those that mean this job.
    ///
    /// - Parameters:
    ///   - name: Its name, if that is known.
    ///   - id: Its id, if it has one.
    ///   - app: Its app.
    /// - Returns: Positions in `all`, ascending.
    package func positions(name: FileName?, id: JobID?, app: String) -> [Int] {
        let named = Set(name.flatMap { byName[$0] } ?? []).union(id.flatMap { byID[$0] } ?? [])
        return named.filter { all[$0].app == nil || all[$0].app == app }.sorted()
    }

    /// Returns the positions of those that mean a job of `app` by its producer's `id:`, ascending in `all`.
    package func positions(ref: String, of app: String) -> [Int] {
        (byRef[Array(ref.utf8)] ?? []).filter { position in
            // Without `ref:` in front a slash is a part of it.
            let wish = all[position]
            return wish.app == nil || wish.app == app || wish.ref == wish.text
        }
    }

    /// Returns the positions of those that mean the job that a line of feedback, or a result file of `app`, is about.
    ///
    /// - Parameters:
    ///   - line: What it says.
    ///   - app: The app that it is of.
    /// - Returns: Positions in `all`, ascending.
    package func positions(by line: Node, of app: String) -> [Int] {
        let name = line["job"]?.string.flatMap { FileName(escaped: $0) }
        var found = Set(positions(name: name, id: line["id"]?.string.flatMap { JobID($0) }, app: app))
        if let ref = line["ref"]?.string { found.formUnion(positions(ref: ref, of: app)) }
        return found.sorted()
    }

    /// Returns whether one of them is this id.
    package func isMeant(_ id: JobID) -> Bool { byID[id] != nil }

    /// Returns the position of the one that is exactly this text, such as an app's name.
    package func position(of text: String) -> Int? { byText[Array(text.utf8)] }
}
