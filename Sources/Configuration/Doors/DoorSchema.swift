package import Document

extension JSONSchema {
    /// The schema of `doors.yaml`.
    package static var doors: JSONSchema {
        var configuration = DoorConfiguration()
        return JSONSchema(
            "doors.yaml: the configuration of pushspool-door, see doors.yaml(5)",
            .object(Fields.sketch { configuration.read(&$0) }))
    }
}
