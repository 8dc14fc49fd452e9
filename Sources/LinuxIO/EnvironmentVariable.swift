import Glibc

/// The environment variables of this process (environ(7)).
package enum EnvironmentVariable {
    /// Returns the value of a variable; `nil` if it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Returns the value of a variable and removes it, so that child processes do not inherit it.
    ///
    /// Call it before a second thread exists, because other threads may read the environment.
    static func take(_ name: String) -> String? {
        let value = value(name)
        // Fails only for a name with `=`.
        _ = unsafe unsetenv(name)
        return value
    }
}
