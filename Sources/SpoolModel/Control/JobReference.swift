package import APNSModel

/// How an operator names a job: by its file, by our id of it, or by its producer's.
package struct JobReference: Hashable, Sendable {
    /// What is known of the job.
    package enum Subject: Hashable, Sendable {
        /// The name of its file, escaped or not.
        case name(String)
        /// Our id.
        case id(JobID)
        /// The producer's `id:`.
        case ref(String)
    }

    /// A folder of an app that jobs are in.
    package enum Folder: String, CaseIterable, Hashable, Sendable {
        /// Waiting.
        case new
        /// Being sent.
        case work
        /// Parked.
        case hold
        /// Over, and good.
        case done
        /// Over, and not.
        case failed
    }

    /// The app; `nil`: any.
    package let app: String?
    /// The folder that it is in; `nil`: any.
    package let folder: Folder?
    /// The day of the archive that it is in; `nil`: any.
    package let day: String?
    /// What is known of the job itself.
    package let subject: Subject

    /// Reads `name`, `app/name`, `app/hold/name`, `app/failed/2026-11-21/name`, the path of such a file with the spool's in front,
    /// an id or `ref:…`, or `app/` and one of the two; with an app, also without `app/`. `nil` for anything else.
    ///
    /// - Parameters:
    ///   - text: What the operator wrote.
    ///   - app: The app that was named beside it.
    package init?(_ text: String, app: String? = nil) {
        var words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let app, words.count == 1 || words[0] != app { words.insert(app, at: 0) }
        if words.count == 1 {
            guard let subject = Subject(text) else { return nil }
            (self.app, folder, day, self.subject) = (nil, nil, nil, subject)
            return
        }
        // A producer's id may have slashes in it, and begin with `app/` only if that is said.
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

    /// What is left of a file's path from the app on: a shell completes the path as it is from the working directory, or the root.
    private static func withoutSpool(_ words: [String]) -> [String] {
        let isQueue = words.count >= 3 && ["new", "hold"].contains(words[words.count - 2])
        return words.suffix(isQueue ? 3 : 4)
    }

    /// The names of files that may be meant, the likelier first: what the program prints is escaped, what `ls` does is not.
    package var names: [FileName] {
        guard case .name(let text) = subject else { return [] }
        let (escaped, plain) = (FileName(escaped: text), FileName(text))
        return (escaped == plain ? [plain] : [escaped, plain]).compactMap(\.self)
    }

    /// The same job, wherever it is by now.
    package var anywhere: JobReference { JobReference(app: app, subject) }

    private init(app: String?, _ subject: Subject) {
        (self.app, folder, day, self.subject) = (app, nil, nil, subject)
    }

    /// Whether the job may be in that folder.
    package func mayBe(in folder: Folder) -> Bool { self.folder.map { $0 == folder } ?? true }
}

extension JobReference.Subject {
    /// An id or `ref:…`; `nil` for what may be a name.
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
    /// What stands behind an app's name.
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
                // The name of a file there begins with the id.
                guard words.count == 3, let id = JobID(last.prefix(26)) else { return nil }
                subject = .id(id)
            case nil: return nil
            }
        }
    }
}
