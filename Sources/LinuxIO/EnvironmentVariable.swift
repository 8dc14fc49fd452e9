import Glibc

/// Variables that the program was started with (environ(7)).
package enum EnvironmentVariable {
    /// The value of a variable; `nil` if it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Returns the value of a variable and removes it, so that no program that is started later has it too.
    ///
    /// Only before there is a second thread: others may be reading the environment.
    static func take(_ name: String) -> String? {
        let value = value(name)
        // Fails on a name with `=` only.
        _ = unsafe unsetenv(name)
        return value
    }
}
