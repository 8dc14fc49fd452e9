import ArgumentParser
import Testing

@testable import pushspool

/// Commands that are proposed, with what was said on the line.
struct ProposalTests {
    @Test(arguments: [
        ([], ""), (["--spool", "/srv/spool"], " --spool /srv/spool"), (["--spool", "/a b;c"], " --spool '/a b;c'"),
        (["--config", "x'y.yaml"], #" --config 'x'\''y.yaml'"#), (["--config", ConfigurationOption.standard], ""),
    ])
    func `options are repeated as a shell takes them`(arguments: [String], text: String) throws {
        #expect(try SpoolOption.parse(arguments).repeated == text)
    }
}
