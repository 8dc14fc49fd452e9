package import JobFormat
package import PushModel

/// How an operator names a job: by its file, by the daemon's id, or by the producer's id.
package struct JobReference: Hashable, Sendable {
    /// The name or id of a job.
    package enum Subject: Hashable, Sendable {
        /// The name of its file, escaped or plain.
        case name(String)
        /// The daemon's id.
        case id(JobID)
        /// The producer's `id:`.
        case ref(String)
    }

    /// A folder of an app that contains jobs.
    package enum Folder: String, CaseIterable, Hashable, Sendable {
        /// Waiting.
        case new
        /// Active.
        case work
        /// Held.
        case hold
        /// Ended successfully.
        case done
        /// Failed.
        case failed
    }

    /// The app; `nil` for any.
    package let app: String?
    /// The folder of the job; `nil` for any.
    package let folder: Folder?
    /// The day of the archive; `nil` for any.
    package let day: String?
    /// The job's name or id.
    package let subject: Subject

    /// Reads `name`, `app/name`, `app/hold/name`, `app/failed/2026-11-21/name`, the path of such a file including the spool's
    /// path, an id or `ref:…`, or `app/` and an id or `ref:…`. With an app, `app/` may be left out. `nil` for any other text.
    ///
    /// - Parameters:
    ///   - text: The operator's text.
    ///   - app: The app, if the operator named it separately.
    package init?(_ text: String, app: String? = nil) {
        var words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let app, words.count == 1 || words[0] != app { words.insert(app, at: 0) }
        if words.count == 1 {
            guard let subject = Subject(text) else { return nil }
            (self.app, folder, day, self.subject) = (nil, nil, nil, subject)
            return
        }
        // A producer's id may contain slashes. Without an app given, text that starts with `ref:` has no `app/` prefix.
        if app == nil, words[0].hasPrefix("ref:"), let subject = Subject(nameless: text) {
            (self.app, folder, day, self.subject) = (nil, nil, nil, subject)
            return
        }
        guard let (owner, place) = Self.place(words) ?? Self.place(Self.withoutSpool(words)) else { return nil }
        (self.app, folder, day, subject) = (owner, place.folder, place.day, place.subject)
    }

    private static func place(_ words: [String]) -> (app: String, place: Place)? {
        guard let owner = words.first, !owner.isEmpty, let place = Place(Array(words.dropFirst())) else { return nil }
        return (owner, place)
    }

    /// Returns the components of a file's path from the app on. A shell completes paths from the working directory or the root.
    private static func withoutSpool(_ words: [String]) -> [String] {
        let isQueue = words.count >= 3 && ["new", "hold"].contains(words[words.count - 2])
        return words.suffix(isQueue ? 3 : 4)
    }

    /// The names of files that may be meant, the likelier first. pushspool prints names escaped, `ls` prints them plain.
    package var names: [FileName] {
        guard case .name(let text) = subject else { return [] }
        let (escaped, plain) = (FileName(escaped: text), FileName(text))
        return (escaped == plain ? [plain] : [escaped, plain]).compactMap(\.self)
    }

    /// The same job in any folder.
    package var anywhere: JobReference { JobReference(app: app, subject) }

    private init(app: String?, _ subject: Subject) {
        (self.app, folder, day, self.subject) = (app, nil, nil, subject)
    }

    /// Whether this is the job that the operator means, as far as its names are known.
    ///
    /// - Parameters:
    ///   - name: The name of its file.
    ///   - id: The daemon's id.
    ///   - ref: The producer's id.
    /// - Returns: `false` if the name by which the operator means the job is unknown.
    package func isMeant(name: FileName?, id: JobID?, ref: String?) -> Bool {
        switch subject {
        case .name: name.map(names.contains) == true
        case .id(let wanted): id == wanted
        case .ref(let wanted): ref == wanted
        }
    }

    /// Whether the reference allows the job to be in this folder.
    package func mayBe(in folder: Folder) -> Bool { self.folder.map { $0 == folder } ?? true }
}

extension JobReference.Subject {
    /// Reads an id or `ref:…`; `nil` for text that may be a file name.
    fileprivate init?(nameless text: String) {
        if let id = JobID(text) {
            self = .id(id)
        } else if text.hasPrefix("ref:"), text.utf8.count > 4 {
            self = .ref(String(text.dropFirst(4)))
        } else {
            return nil
        }
    }

    fileprivate init?(_ text: String) {
        if let nameless = Self(nameless: text) {
            self = nameless
        } else if text.isEmpty || text == "ref:" {
            return nil
        } else {
            self = .name(text)
        }
    }
}

extension JobReference {
    /// The part of a reference after the app's name.
    private struct Place {
        var folder: Folder?
        var day: String?
        var subject: Subject

        init?(_ words: [String]) {
            guard let first = words.first, let last = words.last else { return nil }
            if first.hasPrefix("ref:"), let subject = Subject(nameless: words.joined(separator: "/")) {
                self.subject = subject
                return
            }
            guard words.count > 1 else {
                guard let subject = Subject(first) else { return nil }
                self.subject = subject
                return
            }
            folder = Folder(rawValue: first)
            switch folder {
            case .new?, .hold?:
                guard words.count == 2, let subject = Subject(last) else { return nil }
                self.subject = subject
            case .done?, .failed?:
                guard words.count == 3, !words[1].isEmpty, let subject = Subject(last) else { return nil }
                (day, self.subject) = (words[1], subject)
            case .work?:
                // A name in `work/` begins with the job's id.
                guard words.count == 3, let id = JobID(last.prefix(26)) else { return nil }
                subject = .id(id)
            case nil: return nil
            }
        }
    }
}
