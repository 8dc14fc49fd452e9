package import APNSGateway
package import LinuxIO
package import Logging
import SpoolModel
package import SpoolStore

/// What an app needs of its daemon: what all apps share, and its own share of that.
package struct DaemonContext: Sendable {
    /// The spool.
    package let spool: Spool
    /// What makes jobs ours, and keeps what became of them.
    package let tenure: any Tenure
    /// Where to log.
    package let logger: Logger
    /// The daemon's configuration.
    package let configuration: DaemonConfiguration
    /// This daemon's name in the spool.
    package let node: String
    /// Where sockets live.
    package let reactor: Reactor
    /// The threads for the files of the app's filesystem.
    let files: FileThread
    /// What the app may open whatever others do, and what it has borrowed.
    let descriptors: AppDescriptors
    /// Where raw feedback is kept until it is published.
    package let state: Directory
    /// The provider tokens, which all apps of a key share.
    package let tokens: TokenSources
    /// The reserve for a full volume.
    let ballast: BallastKeeper
    /// Lets one file be read while no other is.
    let reading: ReadingGate
    /// Lets so many hooks begin at a time.
    let hooks: HookGate
    /// Rung when the journal cannot be written any more, or needs room.
    let journalBell: Bell
    /// Rung when there is something new to show in the status.
    let statusBell: Bell
    /// What counts for the app's metrics.
    let meter: AppMeter
    /// Knows how much time has passed since a file's time stamp.
    let clock: ClockWatch

    /// Where everything is recorded that must outlive the daemon: its room, and what it says of earlier runs.
    var journal: Journal { spool.journal }
}

/// What the parts of an app's pipeline share. They belong to its runner, and run where it does.
struct AppContext {
    /// The app's name.
    let name: String
    /// Logs with the app's name.
    let logger: Logger
    /// The app's folders.
    let spool: AppSpool
    /// The app's `feedback/`.
    let folder: FeedbackFolder
    /// Whether it takes jobs, drains or ends, and what its status says.
    let lifecycle: AppLifecycle
    /// What it has of its daemon.
    let daemon: DaemonContext

    /// The threads for its files.
    var files: FileThread { daemon.files }
}
