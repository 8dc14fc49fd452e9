/// Which version of the program this is.
package enum ProgramVersion {
    /// As users see it.
    package static let text = "0.1.0-dev"
}
