package import Configuration
import JobOperations
import LinuxIO
import Logging
import ServiceProcess
import SpoolStore

extension Daemon {
    /// Why the daemon cannot start.
    package enum StartFault: Error {
        /// The daemon's configuration file is invalid; the findings say why.
        case configuration(ConfigurationSet)
        /// The spool or the state folder cannot be used.
        case spool(message: String, hint: String)
        /// The process's limit of open files is too low for the configured apps. Another start does not help: raise the
        /// limit, or remove apps.
        case limit(message: String, hint: String)
        /// Space, descriptors or memory are short, the filesystem is broken or not mounted yet, or another daemon has
        /// the journal or the state folder. This may pass without a change to the configuration.
        case shortage(message: String, hint: String)
    }
}

extension Daemon {
    /// Why no daemon can run with this process's limit of open files; `nil` if one without apps can.
    package static func limitFault() -> (message: String, hint: String)? {
        guard let most = try? OpenFileLimit.most() else { return nil }
        return DescriptorBudget(limit: most).shortage(forApps: 0).map { ("\($0)", DescriptorShortage.hint) }
    }
}

extension Daemon.StartFault {
    /// A limit of open files that is too low.
    static func limit(_ shortage: DescriptorShortage) -> Self {
        .limit(message: "\(shortage)", hint: DescriptorShortage.hint)
    }

    /// Creates the fault for a file that could not be opened or created.
    ///
    /// - Parameters:
    ///   - error: The error that was thrown.
    ///   - path: The path of the daemon's configuration file.
    ///   - spool: The path of the spool.
    init(_ error: any Error, path: String, spool: String) {
        let fault = (error as? SpoolFault)?.withProcess(in: spool)
        let cause = fault?.cause ?? error as? SystemError
        if let cause, let remedy = cause.readOnlyRemedy {
            self = .shortage(message: fault?.message ?? "\(cause)", hint: remedy)
            return
        }
        switch (fault, cause) {
        case (let fault?, let cause?)
        where cause.isOutOfSpace || cause.isShortage || cause.isBrokenFilesystem || cause.isLocked:
            self = .shortage(message: fault.message, hint: fault.hint)
        case (let fault?, _): self = .spool(message: fault.message, hint: fault.hint)
        case (nil, let cause?) where cause.isOutOfSpace:
            self = .shortage(
                message: "\(cause)", hint: "free up space on that volume, enough for the journal, and start again")
        case (nil, let cause?) where cause.isShortage:
            self = .shortage(message: "\(cause)", hint: "check the limits on open files and memory, and start again")
        case (nil, let cause?) where cause.isNotFound:
            self = .shortage(
                message: "\(cause)",
                hint: "create it, or mount its filesystem, and start again; or correct \(path)")
        case (nil, let cause?) where cause.isBrokenFilesystem:
            self = .shortage(message: "\(cause)", hint: "repair or mount that filesystem, and start again")
        default: self = .spool(message: "\(error)", hint: "check `spool` and `state` in \(path)")
        }
    }
}

extension DescriptorBudget {
    /// Raises the process's limit of open files, and checks that it is enough for the configured apps.
    ///
    /// - Throws: `StartFault`: the limit is too low for them.
    static func raised(for set: ConfigurationSet, _ logger: Logger) throws(Daemon.StartFault) -> DescriptorBudget {
        var limit = Int.max
        do throws(SystemError) {
            limit = try OpenFileLimit.raise(keeping: reserve)
        } catch {
            logger.warning("limit on open files cannot be raised", metadata: [LogKey.error: "\(error)"])
        }
        var budget = DescriptorBudget(limit: limit)
        budget.hasMetricsListener = set.daemon.metricsListen != nil
        // Without /proc the number is unknown, and only the reserve covers them.
        budget.inheritedCount = max(0, ((try? OpenFileLimit.openCount()) ?? 0) - ofEveryProcess)
        if let shortage = budget.shortage(forApps: set.apps.count) { throw Daemon.StartFault.limit(shortage) }
        return budget
    }
}
