package import ServiceProcess
package import SpoolModel

extension ReadinessReport {
    /// The report of a daemon: whether it takes and sends jobs of all apps that are configured.
    ///
    /// An app that its gateway refuses or that an operator paused is open: its jobs wait for a person, not for another process.
    ///
    /// - Parameters:
    ///   - status: its status.
    ///   - spoolFault: why the status could not be written into the spool; `nil` if it was.
    package init(of status: SpoolStatus, spoolFault: String?) {
        self.init()
        add("spool", fault: spoolFault)
        let full = status.apps.filter { $0.state == .full }.map(\.name)
        add("space", fault: full.isEmpty ? nil : "too little for \(full.joined(separator: ", "))")
        let shut = status.apps.filter { [.starting, .broken, .stuck].contains($0.state) }
        let names = shut.map { "\($0.name) is \($0.state.rawValue)" }
        add("apps", fault: names.isEmpty ? nil : names.joined(separator: ", "))
        if let cluster = status.cluster { add("lease", fault: cluster.mayAct ? nil : "not valid") }
        if status.isStopping { add("daemon", fault: "stopping") }
    }
}
