import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import ServiceProcess
import SpoolModel

/// A request to gorush that is carried out.
struct GorushPush {
    /// The outcome.
    struct Result {
        /// The number of tokens that were taken.
        var recipientCount = 0
        /// The times that its jobs took.
        fileprivate(set) var dropTimes: [Duration] = []
        /// The number of all tokens.
        fileprivate(set) var count = 0
        fileprivate var logs: [Log] = []

        fileprivate struct Log {
            let platform: Int
            let token: String
            let message: String
            let error: String
        }

        /// Gorush's answer: `{"success":"ok","counts":…,"logs":[…]}`.
        var json: [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("success", "ok")
            writer.member("counts", count)
            writer.key("logs")
            writer.beginArray()
            for log in logs {
                writer.beginObject()
                writer.member("type", "failed-push")
                writer.member("platform", Self.platforms[log.platform] ?? "")
                writer.member("token", log.token)
                writer.member("message", log.message)
                writer.member("error", log.error)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
            return writer.bytes
        }

        /// How many tokens are logged, and how much of a message: a short request must not have a long answer.
        private static let (logLimit, messageLimit) = (1_000, 100)
        private static let platforms = [1: "ios", 2: "android", 3: "huawei"]

        fileprivate mutating func refuse(_ notification: GorushRequest.Notification, because error: String) {
            for token in notification.tokens {
                refuse(token, of: notification, because: error)
            }
            if notification.tokens.isEmpty { refuse("", of: notification, because: error) }
        }

        /// Logs the tokens of a job that was dropped, but will not be sent to: `tokens[3]` in a finding.
        fileprivate mutating func refuse(_ findings: [Diagnostic], of notification: GorushRequest.Notification) {
            for finding in findings where finding.severity == .error {
                guard let number = finding.path.flatMap({ $0.firstMatch(of: #/^tokens\[(\d+)\]/#) })?.output.1,
                    let index = Int(number), notification.tokens.indices.contains(index)
                else { continue }
                refuse(notification.tokens[index], of: notification, because: finding.message)
            }
        }

        private mutating func refuse(
            _ token: String, of notification: GorushRequest.Notification, because error: String
        ) {
            guard logs.count < Self.logLimit else { return }
            logs.append(
                Log(
                    platform: notification.platform, token: token,
                    message: String(notification.message.prefix(Self.messageLimit)), error: error))
        }
    }

    private let request: GorushRequest
    private let producer: Producer
    private let intake: JobIntake

    /// Reads a request.
    ///
    /// - Throws: `APIProblem`: it is not one.
    init(_ body: [UInt8], by producer: Producer, through intake: JobIntake) throws(APIProblem) {
        request = try GorushRequest(try Self.root(of: body), at: .now)
        (self.producer, self.intake) = (producer, intake)
    }

    private static func root(of body: [UInt8]) throws(APIProblem) -> Node {
        var parser = JSON.Parser()
        do throws(Diagnostic) {
            return try parser.parse(body).root
        } catch {
            var problem = APIProblem(400, "the body is not JSON")
            problem.diagnostics = [error]
            throw problem
        }
    }

    /// Drops a job for each notification.
    ///
    /// - Throws: `APIProblem`, `DoorTrouble`: none can be accepted now. Earlier ones may have been dropped.
    func result() async throws -> Result {
        var result = Result()
        for notification in request.notifications {
            result.count += notification.tokens.count
            guard let job = notification.job else {
                result.refuse(notification, because: notification.fault ?? "")
                continue
            }
            guard let target = try await target(of: notification, result) else {
                let topic = notification.topic ?? ""
                result.refuse(
                    notification, because: "no app, or more than one, has the topic and the environment \(topic)")
                continue
            }
            switch await intake.drop(job, as: "gorush.json", for: target, isAllOrNothing: false) {
            case .dropped(let receipt):
                result.recipientCount += receipt.recipientCount
                result.dropTimes.append(receipt.time)
                result.refuse(receipt.diagnostics, of: notification)
            case .refused(let diagnostics):
                result.refuse(notification, because: diagnostics.first?.sentence ?? "the job would fail")
            case .unavailable:
                // A client that sent all again would push twice what was taken.
                guard result.recipientCount > 0 else { throw APIProblem.unavailable }
                result.refuse(notification, because: "no job can be accepted now")
            }
        }
        return result
    }

    /// - Throws: `DoorTrouble`: it is not known which apps there are. Only if nothing was taken, since the client sends all again.
    private func target(
        of notification: GorushRequest.Notification, _ result: Result
    ) async throws -> JobIntake.Target? {
        let router: AppRouter
        do {
            router = try await intake.router()
        } catch {
            guard result.recipientCount > 0 else { throw error }
            return nil
        }
        var names: [String]
        if let topic = notification.topic {
            let host = notification.isSandbox == true ? "sandbox" : ""
            switch router.match(topic: topic, type: nil, for: producer, host: host) {
            case .app(let place): names = [router.apps[place].name]
            case .several(let found): names = found
            case .none: names = []
            }
        } else {
            names = router.apps.filter { $0.carrier != .fcm && producer.may(use: $0.name) }.map(\.name)
        }
        if let isSandbox = notification.isSandbox {
            names.removeAll { name in router.apps.contains { $0.name == name && $0.isSandbox != isSandbox } }
        }
        guard names.count == 1 else { return nil }
        return try await intake.target(names[0])
    }
}
