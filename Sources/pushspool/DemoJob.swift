/// One sample job, and what must become of it.
struct DemoJob {
    /// How a job must end.
    enum End: Hashable {
        /// In `done/` with so many accepted.
        case done
        /// In `failed/` with this code.
        case failed(code: String)
    }

    /// What stands in `new/` by the job's name.
    enum Content {
        /// A file.
        case text(String)
        /// A symbolic link, which is never followed.
        case link(to: String)
    }

    let name: String
    /// The app into whose `new/` it is dropped.
    var app = DemoApp.weather
    /// What it shows, in a few words.
    let about: String
    let content: Content
    let end: End
    /// Those who must get a notification, each exactly once.
    var good: [DemoToken] = []
    /// How many recipients must be rejected.
    var rejectedCount = 0
    /// What a recipient's payload must contain.
    var contents: [DemoToken: String] = [:]
}
