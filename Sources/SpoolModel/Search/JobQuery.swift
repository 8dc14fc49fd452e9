package import JobFormat
package import PushModel

/// A job as an operator names it: by file name, by app and name, by the daemon's id, or by the producer's `id:`.
package struct JobQuery: Hashable, Sendable {
    /// The operator's text.
    package let text: String
    /// The app, if the text names it.
    package let app: String?
    /// The file name, if the text can be one.
    package let name: FileName?
    /// The daemon's id, if the text is one.
    package let id: JobID?

    /// The producer's `id:`, if the text is one.
    package let ref: String

    /// Takes an operator's text: anything that `JobReference` reads, and also a producer's `id:` without the prefix `ref:`.
    package init(_ text: String) {
        self.text = text
        let reference = JobReference(text)
        switch reference?.subject {
        case .ref(let ref)?: (id, self.ref, app) = (nil, ref, reference?.app)
        case .id(let id)?: (self.id, ref, app) = (id, text, reference?.app)
        case .name?, nil: (id, ref, app) = (nil, text, reference?.app)
        }
        name = reference?.names.first
    }

    /// Whether only the content of a file can show that it is meant, because the text is neither a job's file name nor an id.
    package var isRef: Bool { id == nil && name?.isJob != true }
}
