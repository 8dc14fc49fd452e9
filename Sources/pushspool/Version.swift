/// Which release this is.
enum Version {
    /// The number that `pushspool --version` prints, and that the Makefile names packages by.
    static let current = "0.1.0"
}
