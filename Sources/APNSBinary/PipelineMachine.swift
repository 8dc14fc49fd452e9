package import APNSModel

/// One connection's memory of what it wrote: which notifications are in doubt, and what silence, a reply or an end proves.
///
/// Does no I/O and reads no clock. The shell writes what `write` appends, says where in the stream it ended (`mark`), how
/// much of the stream the peer's kernel has (`acknowledge`), and asks at `nextSettlement` for what silence has proved.
/// Identifiers are unique among all that can still be named; see `SentWindow` for how they wrap.
package struct PipelineMachine: Sendable {
    /// How a connection treats what it sends.
    package struct Options: Hashable, Sendable {
        /// The spelling of notifications.
        package var format: FrameFormat
        /// The most notifications in doubt at a time.
        package var windowLimit: Int
        /// How long a connection must be silent, from the moment the peer's kernel has a notification, to prove it
        /// accepted; `nil` when silence proves nothing and only the flush probe does.
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
    /// What silence proved, kept because a late error may still prove the contrary; as much as a window holds.
    private var history = SentWindow()
    private var acknowledgements = Acknowledgements()
    private var nextSequence: UInt64
    private let firstSequence: UInt64
    private var probe: UInt64?
    private var reply: [UInt8] = []

    /// Creates the machine of a new connection.
    ///
    /// - Parameters:
    ///   - options: How it treats what it sends.
    ///   - firstSequence: Where its numbers start; anything but 0 is for tests of the wrap.
    package init(options: Options, firstSequence: UInt64 = 0) {
        self.options = options
        self.firstSequence = firstSequence
        self.nextSequence = firstSequence
    }

    /// How many notifications may be written now. None behind a flush probe.
    package var room: Int {
        probe == nil ? max(0, options.windowLimit - window.count) : 0
    }

    /// How many notifications are in doubt.
    package var doubtCount: Int { window.count }

    /// Whether a flush probe has been written.
    package var isProbing: Bool { probe != nil }

    /// Whether bytes were written that the peer's kernel is not known to have.
    package var isAwaitingAcknowledgement: Bool { acknowledgements.isWaiting }

    /// Moves notifications from the front of `batch` into the window and writes their frames on the sheet, as many as a
    /// record holds: none when the batch is empty or the window full.
    package mutating func write(_ batch: inout Batch, on sheet: inout FrameSheet) {
        let count = min(room, batch.count)
        guard count > 0 else { return sheet.clear() }
        let written = sheet.write(batch[batch.indices.prefix(count)], format: options.format, from: nextSequence)
        window.append(batch.removeFirst(written), first: nextSequence)
        nextSequence += UInt64(written)
    }

    /// Appends the flush probe; nothing may be written behind it.
    package mutating func writeProbe(into bytes: inout [UInt8]) {
        FrameEncoder.appendFlushProbe(SentWindow.identifier(of: nextSequence), format: options.format, to: &bytes)
        probe = nextSequence
        nextSequence += 1
    }

    /// Notes that everything written so far ends in the stream's first `offset` bytes.
    ///
    /// A mark is taken whole or not at all: to be called once per TLS record, which a peer cannot read in part. So what lies
    /// behind the last whole mark when a connection dies was certainly not processed.
    package mutating func mark(offset: UInt64) {
        acknowledgements.add(end: nextSequence, offset: offset)
    }

    /// Notes that the peer's kernel has the stream's first `offset` bytes.
    package mutating func acknowledge(_ offset: UInt64, at now: Moment) {
        acknowledgements.acknowledge(offset, at: now)
    }

    /// When to call `settle` next; `nil` while nothing can be proved by silence.
    package var nextSettlement: Moment? {
        guard reply.isEmpty, let confirmAfter = options.confirmAfter, let arrival = acknowledgements.oldestArrival
        else { return nil }
        return arrival + confirmAfter
    }

    /// Returns what silence up to `now` has proved to be accepted: nothing more once a byte of a reply is there.
    package mutating func settle(at now: Moment) -> [Settlement] {
        guard reply.isEmpty, let confirmAfter = options.confirmAfter,
            let end = acknowledgements.removeArrived(by: now + (.zero - confirmAfter))
        else { return [] }
        let proved = window.removeAll(before: end)
        for (batch, first) in proved { history.append(batch, first: first) }
        history.keepNewest(options.windowLimit)
        return proved.map { Settlement($0.batch, .accepted) }
    }

    /// Takes bytes from the gateway.
    ///
    /// - Returns: The reply, once all six bytes are there; then the connection is over.
    /// - Throws: `DecodingError.unexpectedCommand`: the connection is over as if it had ended without a reply.
    package mutating func receive(_ bytes: some Sequence<UInt8>) throws(DecodingError) -> ErrorReply? {
        reply.append(contentsOf: bytes)
        return try ErrorReply(decoding: reply.span)
    }

    /// Says what the end of the connection proves, and forgets everything in doubt.
    package mutating func end(_ end: ConnectionEnd) -> Conclusion {
        switch end {
        case .reply(let reply): conclude(reply)
        case .silent(let handedOver): concludeSilence(handedOver)
        case .refused: concludeUnsent()
        }
    }
}

extension PipelineMachine {
    private mutating func conclude(_ reply: ErrorReply) -> Conclusion {
        let issued = max(firstSequence, nextSequence - min(nextSequence, SentWindow.identifierCount - 1))..<nextSequence
        let known = options.format.carriesIdentifier ? SentWindow.sequence(of: reply.identifier, in: issued) : nil
        if let probe, known == probe || (reply.identifier == 0 && reply.status == .missingDeviceToken) {
            var conclusion = Conclusion()
            conclusion.settlements = window.removeAll(before: probe).map { Settlement($0.batch, .accepted) }
            return conclusion
        }
        guard let known else { return concludeUnknown(reply) }
        let oldest = history.oldest ?? window.oldest ?? probe ?? nextSequence
        guard known >= oldest else {
            return concludeForgotten(reply.status, lostCount: oldest - known - (reply.status.acceptsNamed ? 1 : 0))
        }
        return conclude(reply.status, naming: known)
    }

    /// The gateway named one from before all that is remembered: everything remembered was thrown away.
    private mutating func concludeForgotten(_ status: Status, lostCount: UInt64) -> Conclusion {
        var conclusion = Conclusion()
        conclusion.status = status
        conclusion.lostCount = Int(clamping: lostCount)
        conclusion.revoked = history.removeAll()
        conclusion.tail = conclusion.revoked + window.removeAll()
        return conclusion
    }

    /// The gateway named a notification: those before it were accepted, those behind it thrown away.
    private mutating func conclude(_ status: Status, naming sequence: UInt64) -> Conclusion {
        var conclusion = Conclusion()
        conclusion.status = status
        _ = history.removeAll(before: sequence)
        conclusion.settlements = window.removeAll(before: sequence).map { Settlement($0.batch, .accepted) }
        conclusion.isCorrection = history.oldest == sequence
        let named =
            conclusion.isCorrection ? history.removeAll(before: sequence + 1) : window.removeAll(before: sequence + 1)
        if status.acceptsNamed {
            let settled = conclusion.isCorrection ? [] : named.map { Settlement($0.batch, .accepted) }
            conclusion.settlements += settled
            conclusion.isCorrection = false
        } else {
            conclusion.named = named.first?.batch
        }
        conclusion.revoked = history.removeAll()
        conclusion.tail = conclusion.revoked + window.removeAll()
        return conclusion
    }

    /// The gateway could not tell which one it was, or named none of ours: everything in doubt stays in doubt.
    ///
    /// One of them was refused for its own fault unless the gateway shuts down or refuses the app. Status 0 counts as a
    /// refusal here: a notification that draws it time and again would otherwise be sent for ever.
    private mutating func concludeUnknown(_ reply: ErrorReply) -> Conclusion {
        var conclusion = doubt(window.removeAll())
        conclusion.status = reply.status
        conclusion.hidesRefusal =
            reply.status != .shutdown && reply.status.failureClass != .app && conclusion.doubtfulCount > 0
        return conclusion
    }

    private mutating func concludeSilence(_ handedOver: UInt64) -> Conclusion {
        let end = acknowledgements.end(within: handedOver) ?? window.oldest ?? 0
        var conclusion = doubt(window.removeAll(before: end).map(\.batch))
        conclusion.hidesRefusal = options.format == .simple && conclusion.doubtfulCount > 0
        conclusion.tail += window.removeAll()
        return conclusion
    }

    private mutating func concludeUnsent() -> Conclusion {
        var conclusion = Conclusion()
        conclusion.tail = window.removeAll()
        return conclusion
    }

    /// What may or may not have been accepted: sent again, or `unknown` for those that must not be sent twice.
    private func doubt(_ batches: [Batch]) -> Conclusion {
        var conclusion = Conclusion()
        for batch in batches {
            switch batch.onDoubt {
            case .resend:
                conclusion.tail.append(batch)
                conclusion.doubtfulCount += batch.count
            case .report:
                conclusion.settlements.append(Settlement(batch, .unknown))
            }
        }
        return conclusion
    }
}
