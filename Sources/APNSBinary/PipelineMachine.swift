package import PushModel

/// The state of one connection: which notifications are in doubt, and the conclusions from silence, a reply or an end.
///
/// Does no I/O and reads no clock. The caller writes the bytes that `write` puts on the sheet, reports where in the
/// stream they end (`mark`) and how much of the stream the peer's kernel has (`acknowledge`), and calls `settle` at
/// `nextSettlement` for the notifications that silence has proved accepted. Identifiers are unique among all
/// notifications that can still be named; see `SentWindow` for how they wrap.
package struct PipelineMachine: Sendable {
    /// The settings of a connection.
    package struct Options: Hashable, Sendable {
        /// The frame format of notifications.
        package var format: FrameFormat
        /// The maximum number of notifications in doubt.
        package var windowLimit: Int
        /// How long the connection must be silent after the peer's kernel received a notification to prove it accepted;
        /// `nil` if silence proves nothing and only the flush probe does.
        package var confirmAfter: Duration?

        /// Creates options.
        package init(format: FrameFormat = .frame, windowLimit: Int = 100_000, confirmAfter: Duration? = .seconds(5)) {
            self.format = format
            self.windowLimit = windowLimit
            self.confirmAfter = confirmAfter
        }
    }

    private let options: Options
    private var window = SentWindow()
    /// The notifications that silence proved accepted, kept because a late error may disprove it. Limited to the size
    /// of a window.
    private var history = SentWindow()
    private var acknowledgements = Acknowledgements()
    private var nextSequence: UInt64
    private let firstSequence: UInt64
    private var probe: UInt64?
    private var reply: [UInt8] = []

    /// Creates the machine of a new connection.
    ///
    /// - Parameters:
    ///   - options: The settings of the connection.
    ///   - firstSequence: The first sequence number; tests use values other than 0 for the wrap.
    package init(options: Options, firstSequence: UInt64 = 0) {
        self.options = options
        self.firstSequence = firstSequence
        self.nextSequence = firstSequence
    }

    /// How many notifications may be written now; none after a flush probe.
    package var room: Int {
        probe == nil ? max(0, options.windowLimit - window.count) : 0
    }

    /// The number of notifications in doubt.
    package var doubtCount: Int { window.count }

    /// Whether a flush probe has been written.
    package var isProbing: Bool { probe != nil }

    /// Whether some written bytes are not known to have reached the peer's kernel.
    package var isAwaitingAcknowledgement: Bool { acknowledgements.isWaiting }

    /// Moves notifications from the front of `batch` into the window and writes their frames on the sheet, up to the
    /// size of one record. Writes none if the batch is empty or the window full.
    package mutating func write(_ batch: inout Batch, on sheet: inout FrameSheet) {
        let count = min(room, batch.count)
        guard count > 0 else { return sheet.clear() }
        let written = sheet.write(batch[batch.indices.prefix(count)], format: options.format, from: nextSequence)
        window.append(batch.removeFirst(written), first: nextSequence)
        nextSequence += UInt64(written)
    }

    /// Appends the flush probe. Nothing may be written after it.
    package mutating func writeProbe(into bytes: inout [UInt8]) {
        FrameEncoder.appendFlushProbe(SentWindow.identifier(of: nextSequence), format: options.format, to: &bytes)
        probe = nextSequence
        nextSequence += 1
    }

    /// Notes that everything written so far ends in the stream's first `offset` bytes.
    ///
    /// Call it once per TLS record, because a peer cannot read part of a record. When the connection is lost, bytes
    /// after the last mark that arrived completely were certainly not processed.
    package mutating func mark(offset: UInt64) {
        acknowledgements.add(end: nextSequence, offset: offset)
    }

    /// Notes that the peer's kernel has the stream's first `offset` bytes.
    package mutating func acknowledge(_ offset: UInt64, at now: Moment) {
        acknowledgements.acknowledge(offset, at: now)
    }

    /// When to call `settle` next; `nil` while silence cannot prove anything.
    package var nextSettlement: Moment? {
        guard reply.isEmpty, let confirmAfter = options.confirmAfter, let arrival = acknowledgements.oldestArrival
        else { return nil }
        return arrival + confirmAfter
    }

    /// Returns the notifications that silence until `now` has proved accepted; none once a byte of a reply has arrived.
    package mutating func settle(at now: Moment) -> [Settlement] {
        guard reply.isEmpty, let confirmAfter = options.confirmAfter,
            let end = acknowledgements.removeArrived(by: now + (.zero - confirmAfter))
        else { return [] }
        let proved = window.removeAll(before: end)
        for (batch, first) in proved { history.append(batch, first: first) }
        history.keepNewest(options.windowLimit)
        return proved.map { Settlement($0.batch, .accepted) }
    }

    /// Processes bytes from the gateway.
    ///
    /// - Returns: The reply, once all six bytes have arrived. It ends the connection.
    /// - Throws: `DecodingError.unexpectedCommand`. The connection has ended, as by a close without a reply.
    package mutating func receive(_ bytes: some Sequence<UInt8>) throws(DecodingError) -> ErrorReply? {
        reply.append(contentsOf: bytes)
        return try ErrorReply(decoding: reply.span)
    }

    /// Returns the conclusions from the end of the connection, and removes everything in doubt.
    package mutating func end(_ end: ConnectionEnd) -> DoubtResolution {
        switch end {
        case .reply(let reply): conclude(reply)
        case .silent(let handedOver): concludeSilence(handedOver)
        case .refused: concludeUnsent()
        }
    }
}

extension PipelineMachine {
    private mutating func conclude(_ reply: ErrorReply) -> DoubtResolution {
        let issued = max(firstSequence, nextSequence - min(nextSequence, SentWindow.identifierCount - 1))..<nextSequence
        let known = options.format.carriesIdentifier ? SentWindow.sequence(of: reply.identifier, in: issued) : nil
        if let probe, known == probe || (reply.identifier == 0 && reply.status == .missingDeviceToken) {
            var resolution = DoubtResolution()
            resolution.settlements = window.removeAll(before: probe).map { Settlement($0.batch, .accepted) }
            return resolution
        }
        guard let known else { return concludeUnknown(reply) }
        let oldest = history.oldest ?? window.oldest ?? probe ?? nextSequence
        guard known >= oldest else {
            return concludeForgotten(reply.status, lostCount: oldest - known - (reply.status.acceptsNamed ? 1 : 0))
        }
        return conclude(reply.status, naming: known)
    }

    /// The gateway named a notification older than everything in memory: everything in memory was discarded.
    private mutating func concludeForgotten(_ status: Status, lostCount: UInt64) -> DoubtResolution {
        var resolution = DoubtResolution()
        resolution.status = status
        resolution.lostCount = Int(clamping: lostCount)
        resolution.revoked = history.removeAll()
        resolution.tail = resolution.revoked + window.removeAll()
        return resolution
    }

    /// The gateway named a notification: those before it were accepted, those after it discarded.
    private mutating func conclude(_ status: Status, naming sequence: UInt64) -> DoubtResolution {
        var resolution = DoubtResolution()
        resolution.status = status
        _ = history.removeAll(before: sequence)
        resolution.settlements = window.removeAll(before: sequence).map { Settlement($0.batch, .accepted) }
        resolution.isCorrection = history.oldest == sequence
        let named =
            resolution.isCorrection ? history.removeAll(before: sequence + 1) : window.removeAll(before: sequence + 1)
        if status.acceptsNamed {
            let settled = resolution.isCorrection ? [] : named.map { Settlement($0.batch, .accepted) }
            resolution.settlements += settled
            resolution.isCorrection = false
        } else {
            resolution.named = named.first?.batch
        }
        resolution.revoked = history.removeAll()
        resolution.tail = resolution.revoked + window.removeAll()
        return resolution
    }

    /// The gateway did not identify the notification, or named an unknown one: everything in doubt stays in doubt.
    ///
    /// Unless the gateway shuts down or refuses the app, one of them was refused for its own fault. Status 0 counts as
    /// a refusal here: otherwise a notification that repeatedly gets it would be resent endlessly.
    private mutating func concludeUnknown(_ reply: ErrorReply) -> DoubtResolution {
        var resolution = doubt(window.removeAll())
        resolution.status = reply.status
        resolution.hidesRefusal =
            reply.status != .shutdown && reply.status.failureClass != .app && resolution.doubtfulCount > 0
        return resolution
    }

    private mutating func concludeSilence(_ handedOver: UInt64) -> DoubtResolution {
        let end = acknowledgements.end(within: handedOver) ?? window.oldest ?? 0
        var resolution = doubt(window.removeAll(before: end).map(\.batch))
        resolution.hidesRefusal = options.format == .simple && resolution.doubtfulCount > 0
        resolution.tail += window.removeAll()
        return resolution
    }

    private mutating func concludeUnsent() -> DoubtResolution {
        var resolution = DoubtResolution()
        resolution.tail = window.removeAll()
        return resolution
    }

    /// Notifications that may or may not have been accepted: resent, or `unknown` if their policy forbids sending them
    /// twice.
    private func doubt(_ batches: [Batch]) -> DoubtResolution {
        var resolution = DoubtResolution()
        for batch in batches {
            switch batch.onDoubt {
            case .resend:
                resolution.tail.append(batch)
                resolution.doubtfulCount += batch.count
            case .report:
                resolution.settlements.append(Settlement(batch, .unknown))
            }
        }
        return resolution
    }
}
