import ArgumentParser
import CommandProgram
import Document
import Doors
import ServiceProcess

/// The command `pushspool-door certificate`.
struct MakeCertificate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Make a certificate with which the relay stands in for Apple's host.",
        discussion: """
            For a client that always connects to api.push.apple.com. Writes an authority that is valid for these hosts only, \
            door-ca.key and door-ca.pem, and a certificate with its key, door.pem; prints how to use them. With an \
            authority that is there already, renews door.pem. Run it as the doors' user.

            Example: pushspool-door certificate --folder /var/lib/pushspool-door api.push.apple.com
            """)

    @Option(help: ArgumentHelp("The folder for the files.", valueName: "folder"), completion: .directory)
    var folder = "/var/lib/pushspool-door"

    @Argument(help: ArgumentHelp("The hosts that the client connects to.", valueName: "host"))
    var hosts: [String]

    func run() async throws {
        let made: RelayCertificate
        do {
            made = try RelayCertificate(for: hosts, in: folder)
        } catch let fault as Diagnostic {
            Talk.complain(fault.message, hint: fault.hint)
            throw ExitCode.badConfiguration
        } catch {
            Talk.complain(
                "\(error)", hint: "run it as the doors' user, with a folder of theirs, and the hosts of the first time")
            throw ExitCode.badConfiguration
        }
        Talk.say("\(folder)/\(RelayCertificate.authorityName): \(made.authority)")
        Talk.say("\(folder)/\(RelayCertificate.name): \(made.certificate)")
        guard !made.isRenewed else { return Talk.say("renewed: send HUP to the doors") }
        Talk.say(
            """

            in doors.yaml:
              apns: {listen: "0.0.0.0:443", certificate: \(folder)/\(RelayCertificate.name)}
            for the client: trust \(RelayCertificate.authorityName), and let the door's address answer to the name:
              SSL_CERT_FILE=\(RelayCertificate.authorityName)
              192.0.2.10 \(hosts.joined(separator: " "))    # in its hosts file, with the address of this host
            """)
    }
}
