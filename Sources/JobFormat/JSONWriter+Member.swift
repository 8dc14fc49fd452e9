package import Document
package import PushModel

extension JSONWriter {
    /// Writes a member with a time in RFC 3339; writes nothing for `nil`.
    package mutating func member(_ name: String, _ value: WallTime?) {
        guard let value else { return }
        key(name)
        string(spelledBy: { value.appendRFC3339(to: &$0) })
    }

    /// Writes a member with a job's id.
    package mutating func member(_ name: String, _ value: JobID) {
        key(name)
        string(spelledBy: { value.append(to: &$0) })
    }

    /// Writes a member with a file name, escaped as in `FileName.escaped`.
    package mutating func member(_ name: String, _ value: FileName) {
        key(name)
        string(spelledBy: { value.appendEscaped(to: &$0) })
    }
}
