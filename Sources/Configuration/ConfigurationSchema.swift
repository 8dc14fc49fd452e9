package import Document
import YAML

// The readers themselves say what they take, so that schemas and readers cannot differ.
extension JSONSchema {
    /// The schema of `pushspool.yaml`.
    package static var daemon: JSONSchema {
        var configuration = DaemonConfiguration()
        return JSONSchema(
            "pushspool.yaml: the configuration of the daemon, see pushspool.yaml(5)",
            .object(Fields.sketch { configuration.read(&$0) }))
    }

    /// The schema of an app's file.
    package static var app: JSONSchema {
        let wires = AppConfiguration.Wire.Name.allCases.map { name in
            var shape = shape(of: name)
            shape.fix("protocol", to: name.rawValue)
            return (name.rawValue, Shape.object(shape))
        }
        return JSONSchema(
            "apps/<app>.yaml: the configuration of an app of pushspool, see pushspool.yaml(5)",
            .any(wires.map { .defined($0.0) }), definitions: wires)
    }

    private static func shape(of wire: AppConfiguration.Wire.Name) -> ObjectShape {
        var parser = YAML.Parser()
        do throws(Diagnostic) {
            let root = try parser.parse(Array("protocol: \(wire)\n".utf8)).root
            var app = AppConfiguration(name: "")
            return Fields.sketch(root) { app.read(&$0) }
        } catch {
            preconditionFailure("a line of ours is YAML: \(error)")
        }
    }
}
