import Configuration
import LinuxIO
import Logging

/// Makes the doors that a configuration names.
struct DoorSetup {
    private let set: DoorSet
    private let reactor: Reactor
    private let logger: Logger
    private let configuration: DoorConfiguration
    private let rates = ProducerRates()

    /// Takes a configuration without errors, and the reactor of the process.
    init(_ set: DoorSet, _ reactor: Reactor, _ logger: Logger) {
        (self.set, self.reactor, self.logger) = (set, reactor, logger)
        configuration = set.configuration
    }

    /// Makes the doors. Blocks.
    ///
    /// - Parameter probe: what tells whether a job could be dropped.
    /// - Returns: The doors, which do not listen yet.
    /// - Throws: `SystemError`: the spool or the state folder cannot be used, or there is no thread left.
    func doors(_ probe: SpoolProbe) throws(SystemError) -> [any Door] {
        var doors: [any Door] = []
        if let relay = try relay() { doors.append(relay) }
        guard configuration.http != nil || configuration.xmlrpc != nil || configuration.zeromq != nil else {
            return doors
        }
        // The relay must not wait for the long documents of other doors.
        let reactor = try Reactor(name: "doors")
        let intake = try JobIntake(configuration, logger)
        if let place = configuration.http {
            let reader = try SpoolReader(spool: configuration.spool, logger)
            let tools = JSONDoor.Tools(intake: intake, reader: reader, probe: probe, rates: rates, logger: logger)
            doors.append(JSONDoor(set, at: place, with: tools, on: reactor))
        }
        if let rules = configuration.xmlrpc {
            let feedback = try DoorRecords(
                door: "xmlrpc", spool: configuration.spool, state: configuration.state, logger)
            let tools = XMLRPCDoor.Tools(intake: intake, feedback: feedback, rates: rates, logger: logger)
            doors.append(XMLRPCDoor(set, rules, with: tools, on: reactor))
        }
        if let rules = configuration.zeromq {
            let feedback = try DoorRecords(
                door: "zeromq", spool: configuration.spool, state: configuration.state, logger)
            let tools = ZeroMQDoor.Tools(intake: intake, feedback: feedback, logger: logger)
            doors.append(
                ZeroMQDoor(rules, bodyLimit: configuration.requestByteLimit, with: tools, on: reactor))
        }
        return doors
    }

    private func relay() throws(SystemError) -> RelayDoor? {
        guard let relay = configuration.relay, let context = set.relayContext else { return nil }
        let (writer, known) = try SpoolWriter.open(configuration, logger)
        return RelayDoor(
            set, (relay, context), known: known, with: (reactor, writer, rates, try feedback(for: relay), logger))
    }

    /// Returns the reader of feedback, if the relay needs it.
    private func feedback(for relay: DoorConfiguration.Relay) throws(SystemError) -> FeedbackWatch? {
        guard relay.gone > .zero || relay.answer == .gateway else { return nil }
        let horizon = max(relay.gone, relay.wait + .seconds(60))
        return try FeedbackWatch(spool: configuration.spool, horizon: horizon, logger: logger)
    }
}
