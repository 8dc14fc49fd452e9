import APNSModel
import DoorModel
import PushModel
import Testing

/// The transcripts of py-apnsd's documentation, byte for byte.
struct SeedTranscriptTests {
    private static let noon = WallTime(epochSeconds: 1_343_700_000)
    private static let first = "DDE37D652A87B72516D51117B45980852A22CEFAB57ABF84ED11F937ED621007"
    private static let second = "7B168DB2D8F3EBAE6A0235AFF7CEDAC279ECBA6DDE83099816383E94B3B2020C"

    @Test func `commands get the replies of the transcripts`() throws {
        var door = try CommandDoor(nextID: 34, at: Self.noon)
        for (request, reply) in [
            ("send 1343727824 1 oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk+/xp5HAY= hello", "OK 34"),
            ("send 1343728733 2 \(Self.first) \(Self.second) hello", "OK 35 36"),
            ("send 1343728831 1 DEADBEAF hello", "ERROR Wrong device token length (6 != 32): DEADBEAF"),
            (
                "send 1343730023 1 oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk-/xp5HAD= hello",
                "ERROR Wrong base64 encoding for device token: oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk-/xp5HAD="
            ),
        ] {
            #expect(door.reply(to: request) == reply)
        }
    }

    @Test func `feedback has the time that the grammar asks for and the transcript leaves out`() throws {
        var door = try CommandDoor(nextID: 1, at: Self.noon)
        #expect(door.reply(to: "feedback") == "OK")
        door.lost = [LostToken(try token(Self.second), isGone: false, goneSince: nil)]
        #expect(door.reply(to: "feedback") == "OK 0:\(Self.second)")
        #expect(door.reply(to: "feedback") == "OK")
    }

    @Test func `feedback of several tokens may be in base64`() throws {
        let tokens = [
            LostToken(try token(Self.first), goneSince: WallTime(epochSeconds: 1_344_433_059)),
            LostToken(DeviceToken(bytes: [0]), goneSince: nil, reportedAt: WallTime(epochSeconds: 1)),
            LostToken(DeviceToken(bytes: [0xFB, 0xFF]), isGone: false, goneSince: nil),
        ]
        let reply = CommandReply.feedback(tokens, format: .base64)
        #expect(
            String(decoding: reply.bytes, as: UTF8.self)
                == "OK 1344433059:3eN9ZSqHtyUW1REXtFmAhSoizvq1er+E7RH5N+1iEAc= 1:AA== 0:+/8=")
    }

    private func token(_ hex: String) throws -> DeviceToken { try #require(DeviceToken(hex)) }
}

/// What a door makes of commands, without the spool.
struct CommandDoor {
    private var ids: CommandIDs
    private let now: WallTime
    /// What `feedback` tells, once.
    var lost: [LostToken] = []

    /// A door whose next notification has this id.
    init(nextID: Int, at now: WallTime) throws {
        ids = try CommandIDs(continuing: Array("\(nextID)".utf8))
        self.now = now
    }

    /// Serves a command.
    mutating func reply(to request: String) -> String {
        String(decoding: reply(Array(request.utf8)).bytes, as: UTF8.self)
    }

    private mutating func reply(_ request: [UInt8]) -> CommandReply {
        do throws(CommandFault) {
            switch try PushCommand(request, at: now) {
            case .feedback:
                defer { lost = [] }
                return .feedback(lost, format: .hexadecimal)
            case .send(let command):
                if let reservation = ids.reservation(for: command.count) { ids.note(reservation) }
                return .sent(ids: ids.allocate(command.count))
            }
        } catch {
            return .refused(error)
        }
    }
}
