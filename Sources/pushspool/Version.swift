/// The version of the program.
enum Version {
    /// The version that `pushspool --version` prints, and that the Makefile uses in package names.
    static let current = "0.1.0"
}
