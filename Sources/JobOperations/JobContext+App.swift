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
}
