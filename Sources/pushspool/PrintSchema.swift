import ArgumentParser
import Configuration
import Document
import JobFormat
import ServiceProcess

/// The command `pushspool schema`.
struct PrintSchema: ParsableCommand {
    /// The kinds of files.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case job, app, daemon, doors
    }

    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of jobs or of configuration files.",
        discussion: """
            The schema (draft 2020-12) has the keys, types, limits and defaults of the reader: of job files, \
            apps/<app>.yaml, pushspool.yaml or doors.yaml. Editors complete and check a file whose first line is \
            `# yaml-language-server: $schema=job.schema.json`. `check` finds more: what concerns several values.

            Example: pushspool schema job > job.schema.json
            """)

    @Argument(help: ArgumentHelp("The kind of file: job, app, daemon or doors.", valueName: "kind"))
    var kind: Kind

    func run() {
        let schema: JSONSchema =
            switch kind {
            case .job: .job
            case .app: .app
            case .daemon: .daemon
            case .doors: .doors
            }
        Talk.say(schema.document)
    }
}
