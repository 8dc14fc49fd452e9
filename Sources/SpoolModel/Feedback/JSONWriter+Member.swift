package import APNSModel
package import Document

extension JSONWriter {
    /// Writes a member, or nothing for no value.
    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// Writes a member that is a number.
    package mutating func member(_ name: String, _ value: Int) {
        key(name)
        integer(value)
    }

    /// Writes a member that is a time, in RFC 3339, or nothing for no value.
    package mutating func member(_ name: String, _ value: WallTime?) {
        guard let value else { return }
        key(name)
        string(spelledBy: value.appendRFC3339)
    }

    /// Writes a member that is a job's id.
    package mutating func member(_ name: String, _ value: JobID) {
        key(name)
        string(spelledBy: value.append)
    }

    /// Writes a member that is the name of a file, escaped as `FileName.escaped` says.
    package mutating func member(_ name: String, _ value: FileName) {
        key(name)
        string(spelledBy: value.appendEscaped)
    }
}
