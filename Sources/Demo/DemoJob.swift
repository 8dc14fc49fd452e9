/// A sample job with its expected outcome.
package struct DemoJob {
    /// The expected end of a job.
    enum End: Hashable {
        /// In `done/`, with `good` accepted.
        case done
        /// In `failed/`, with this code.
        case failed(code: String)
    }

    /// The file to create in `new/` under the job's name.
    enum Content {
        /// A regular file.
        case text(String)
        /// A symbolic link. The daemon never follows links.
        case link(to: String)
    }

    let name: String
    /// The app to which the job is dropped.
    var app = DemoApp.weather
    /// A short description.
    let about: String
    let content: Content
    let end: End
    /// The recipients that must receive exactly one notification each.
    var good: [DemoToken] = []
    /// The number of recipients that must be rejected.
    var rejectedCount = 0
    /// Text that a recipient's payload must contain.
    var contents: [DemoToken: String] = [:]
    /// Text in the payload that the followers of the channel must receive once; `nil` if the job is no broadcast.
    var broadcast: String?

    /// The number of notifications that must be accepted.
    var acceptedCount: Int { good.count + (broadcast == nil ? 0 : 1) }
}
