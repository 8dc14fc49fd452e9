import TestSupport

extension Bench {
    /// Starts a daemon that has a second to drain, with this environment as a shell reads it, and by a command in front.
    func start(with environment: String, under wrapper: String = "") throws -> Program {
        let command = ["run", "--config", "\(path)/etc/pushspool.yaml", "--drain", "1"]
        let script = "\(environment) exec \(wrapper) \"$@\""
        let arguments = ["-c", script, "sh", try BuiltProgram.path] + command
        return try Program("/bin/sh", arguments, logs: path + "/logs")
    }
}
