package import LinuxIO

/// What both programs do before they have a second thread.
package enum ProgramStart {
    /// The exit code of a program that may succeed later (EX_TEMPFAIL).
    private static let tryAgain: Int32 = 75

    /// Returns what the program cannot do without, or ends it with the reason.
    package static func needed<Value>(_ make: () throws(SystemError) -> Value) -> Value {
        do throws(SystemError) {
            return try make()
        } catch {
            Talk.complain("\(error)", hint: nil)
            Host.leave(with: tryAgain)
        }
    }

    /// Returns the service manager that started the program and expects notifications. Changes the environment.
    ///
    /// - Returns: `nil` if none did, or if its address cannot be used, which is reported.
    package static func announcedServiceManager() -> ServiceManager? {
        do throws(SystemError) {
            return try ServiceManager.takenFromEnvironment()
        } catch {
            Talk.complain(
                "cannot notify the service manager: \(error)",
                hint: "set NOTIFY_SOCKET to the path of a Unix domain socket, or to @ and an abstract name")
            return nil
        }
    }
}
