package import Configuration
package import Document
package import JobFormat
import PushModel
import ServiceProcess
package import SpoolModel

extension JobContext {
    /// Creates the context in which the daemon reads the jobs of an app, for checking recipients.
    package init(checkingFor app: AppList.App, _ limits: DocumentLimits) {
        self.init(job: JobID(bits: 0), droppedAt: .now, carrier: app.carrier, topic: app.topic)
        (identity, toleratesUnknownFields) = (app.identity, app.toleratesUnknownFields)
        (channels, onDoubt, self.limits) = (app.channels, app.onDoubt, limits)
    }

    /// Creates what the contexts of an app's jobs have in common; the caller sets what concerns one job.
    package init(of app: ConfiguredApp) {
        let configuration = app.configuration
        self.init(job: JobID(bits: 0), droppedAt: .now, carrier: configuration.carrier, topic: app.topic)
        (identity, channels, onDoubt) = (app.proof, configuration.channels, configuration.onDoubt)
        toleratesUnknownFields = configuration.toleratesUnknownFields
    }
}
