import Document
package import PushModel

/// The settings of a job as a whole.
package struct JobHeader: Hashable, Sendable {
    /// Which notifications get a feedback line.
    package enum Record: String, CaseIterable, Hashable, Sendable {
        /// Those that were not accepted.
        case failures
        /// All of them.
        case all
    }

    /// The producer's id of the job (`id:`).
    package var ref: String?
    /// How many recipients the job declares; a match proves that the file is complete.
    package var count: Int?
    /// Whether one bad recipient fails the job.
    package var isStrict = false
    /// Which notifications get a feedback line.
    package var record = Record.failures
    /// The lane of the job: the one in the file, else the one in the file's name.
    package var lane: Lane
    /// The policy for notifications in doubt.
    package var onDoubt: OnDoubt
    /// The earliest time to claim the job; `nil` if it sets none.
    package private(set) var notBefore: WallTime?
    /// When the job was dropped.
    private let droppedAt: WallTime
    /// The same in boot time, and the history for converting other times.
    private let dropMoment: Moment
    private let clock: ClockHistory
    /// How long to keep trying.
    private var giveUpAfter = JobHeader.defaultGiveUpAfter

    /// The earliest time to send the job: after the drop, and not before `not_before`.
    package var earliest: WallTime { max(droppedAt, notBefore ?? droppedAt) }

    /// When notifications without an outcome become `unsent`. This is boot time: setting the wall clock does not change
    /// it. A postponed job gets as much time as any other.
    package var giveUpAt: Moment {
        let start = earliest > droppedAt ? max(dropMoment, clock.moment(of: earliest)) : dropMoment
        return start + giveUpAfter
    }

    /// How long to try a job that sets no `give_up_after`.
    package static let defaultGiveUpAfter = Duration.seconds(86_400)
    /// The longest `id:` in bytes.
    package static let longestRef = 255

    /// Creates the header of a job without settings.
    package init(_ context: JobContext) {
        onDoubt = context.onDoubt
        lane = context.lane
        droppedAt = context.droppedAt
        dropMoment = context.dropMoment
        clock = context.clock
    }

    /// Reads the value of a key about the job as a whole.
    mutating func read(_ key: JobKey, _ node: Node, _ findings: inout Findings) {
        switch key {
        case .id: readRef(node, &findings)
        case .count: readCount(node, &findings)
        case .strict:
            if let value = node.boolean { isStrict = value } else { complain("true or false", key, node, &findings) }
        case .record: record = choice(key, node, &findings) ?? record
        case .onDoubt: onDoubt = choice(key, node, &findings) ?? onDoubt
        case .giveUpAfter: readGiveUpAfter(node, &findings)
        case .lane: lane = choice(key, node, &findings) ?? lane
        case .notBefore: readNotBefore(node, &findings)
        case .token, .tokens, .recipients, .payloads, .channel, .topic, .priority, .expiration, .pushType, .collapseID,
            .payload,
            .alert, .badge, .sound, .category, .custom, .threadID, .contentAvailable, .mutableContent,
            .interruptionLevel, .registeredAt, .apnsID, .fid, .fids, .condition, .notification, .data, .android,
            .androidV2, .apns, .webpush, .fcmOptions, .image, .tag, .icon, .color, .channelID, .clickAction:
            preconditionFailure("not a key about the job")
        }
    }

    private func complain(_ expected: String, _ key: JobKey, _ node: Node, _ findings: inout Findings) {
        findings.expected(expected, node, reason: .badValue, about: key.rawValue)
    }

    private mutating func readRef(_ node: Node, _ findings: inout Findings) {
        guard let text = node.scalarText else { return complain("a string", .id, node, &findings) }
        guard (1...Self.longestRef).contains(text.utf8.count) else {
            let message = "must have 1 to \(Self.longestRef) bytes (got \(text.utf8.count))"
            return findings.add(.badValue, Diagnostic(message, at: node.place), about: JobKey.id.rawValue)
        }
        ref = text
    }

    private mutating func readCount(_ node: Node, _ findings: inout Findings) {
        guard let number = node.integer, number >= 0 else {
            return complain("a whole number", .count, node, &findings)
        }
        count = number
    }

    private mutating func readGiveUpAfter(_ node: Node, _ findings: inout Findings) {
        let key = JobKey.giveUpAfter
        guard let text = node.scalarText else { return complain("a duration", key, node, &findings) }
        do throws(TextFault) {
            let duration = try DurationText.parse(text)
            guard duration > .zero else {
                throw TextFault("must be longer than 0", hint: "write \(DurationText.form), or omit it for 1d")
            }
            giveUpAfter = duration
        } catch {
            findings.add(
                .badValue, Diagnostic(error.message, hint: error.hint, at: node.place), about: key.rawValue)
        }
    }

    private func choice<Choice>(_ key: JobKey, _ node: Node, _ findings: inout Findings) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        if let text = node.string, let choice = Choice(rawValue: text) { return choice }
        let words = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: " or ")
        complain(words, key, node, &findings)
        return nil
    }

    private mutating func readNotBefore(_ node: Node, _ findings: inout Findings) {
        let key = JobKey.notBefore
        guard let text = node.scalarText else { return complain("a time", key, node, &findings) }
        do throws(TextFault) {
            notBefore = try TimeText.parse(text, droppedAt: droppedAt, form: Self.notBeforeForm)
        } catch {
            findings.add(
                .badValue, Diagnostic(error.message, hint: error.hint, at: node.place), about: key.rawValue)
        }
    }

    private static let notBeforeForm = "write a time such as 2026-11-22T06:00:00Z, epoch seconds, +3600 or +1h"
}
