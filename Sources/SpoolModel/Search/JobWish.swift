package import APNSModel

/// A job as somebody names it: by the name it was dropped by, by app and name, by our id, or by the producer's `id:`.
package struct JobWish: Hashable, Sendable {
    /// What was written.
    package let text: String
    /// The app, if it was written before the name.
    package let app: String?
    /// The name, if it can be one.
    package let name: FileName?
    /// The id, if it is one.
    package let id: JobID?

    /// The producer's `id:` that it would be.
    package let ref: String

    /// Takes what somebody wrote: what `JobReference` reads, or else, and besides, a producer's `id:` without `ref:` in front.
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

    /// Whether only what is inside of a file can tell that it is meant: it is no file's name, and no id.
    package var isRef: Bool { id == nil && name?.isJob != true }
}
