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

    /// Takes what somebody wrote: `storm.json`, `weather/storm.json`, a path in the spool such as
    /// `weather/done/2026-11-21/storm.json`, 26 characters of an id, or anything else as a producer's `id:`.
    package init(_ text: String) {
        self.text = text
        id = JobID(text)
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        app = parts.count > 1 ? parts.first.map(String.init) : nil
        let last = parts.last.map(String.init) ?? ""
        name = FileName(escaped: last) ?? FileName(last)
    }
}
