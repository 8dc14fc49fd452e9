/// The version of the programs.
package enum Version {
    /// The version that `--version` prints, and that the Makefile uses in package names.
    package static let current = "0.2.0"
}
