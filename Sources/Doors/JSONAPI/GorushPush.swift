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
        /// The number of recipients that were taken.
        var recipientCount = 0
        /// The times that its jobs took.
        fileprivate(set) var dropTimes: [Duration] = []
        /// The number of all recipients.
        fileprivate(set) var count = 0
        fileprivate var logs: [Log] = []

        fileprivate struct Log {
            let platform: GorushRequest.Platform?
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
                writer.member("platform", log.platform?.word ?? "")
                writer.member("token", log.token)
                writer.member("message", log.message)
                writer.member("error", log.error)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
            return writer.bytes
        }

        /// How many recipients are logged, and how much of a message: a short request must not have a long answer.
        private static let (logLimit, messageLimit) = (1_000, 100)

        /// Logs recipients of a notification: one without a name if there are none.
        fileprivate mutating func refuse(
            _ recipients: [String], of notification: GorushRequest.Notification, because error: String
        ) {
            for recipient in recipients.isEmpty ? [""] : recipients {
                refuse(recipient, of: notification, because: error)
            }
        }

        /// Logs the tokens of a job that was dropped, but will not be sent to: `tokens[3]` in a finding.
        fileprivate mutating func refuse(
            _ findings: [Diagnostic], in job: GorushRequest.Job, of notification: GorushRequest.Notification
        ) {
            for finding in findings where finding.severity == .error {
                guard let number = finding.path.flatMap({ $0.firstMatch(of: #/^tokens\[(\d+)\]/#) })?.output.1,
                    let index = Int(number), job.recipients.indices.contains(index)
                else { continue }
                refuse(job.recipients[index], of: notification, because: finding.message)
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
    private let fcmApp: String?
    private let producer: Producer
    private let intake: JobIntake

    /// Why a notification has no app.
    private struct NoApp: Error {
        let reason: String
    }

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - fcmApp: The app for notifications to FCM; `nil`: the producer's only one.
    ///   - producer: Who sends it.
    ///   - intake: Takes the jobs.
    /// - Throws: `APIProblem`: it is not one.
    init(
        _ body: [UInt8], fcmApp: String?, by producer: Producer, through intake: JobIntake
    ) throws(APIProblem) {
        request = try GorushRequest(try Self.root(of: body), at: .now)
        (self.fcmApp, self.producer, self.intake) = (fcmApp, producer, intake)
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

    /// Drops the jobs of each notification.
    ///
    /// - Throws: `APIProblem`, `DoorTrouble`: none can be accepted now. Earlier ones may have been dropped.
    func result() async throws -> Result {
        var result = Result()
        for notification in request.notifications {
            result.count += notification.recipients.count
            if let fault = notification.fault {
                result.refuse(notification.recipients, of: notification, because: fault)
                continue
            }
            do {
                let target = try await target(of: notification, result)
                for job in notification.jobs { try await drop(job, of: notification, for: target, &result) }
            } catch let error as NoApp {
                result.refuse(notification.recipients, of: notification, because: error.reason)
            }
        }
        return result
    }

    private func drop(
        _ job: GorushRequest.Job, of notification: GorushRequest.Notification, for target: JobIntake.Target,
        _ result: inout Result
    ) async throws(APIProblem) {
        switch await intake.drop(job.bytes, as: "gorush.json", for: target, isAllOrNothing: false) {
        case .dropped(let receipt):
            result.recipientCount += receipt.recipientCount
            result.dropTimes.append(receipt.time)
            result.refuse(receipt.diagnostics, in: job, of: notification)
        case .refused(let diagnostics):
            let fault = diagnostics.first { $0.severity == .error }
            result.refuse(job.recipients, of: notification, because: fault?.sentence ?? "the job would fail")
        case .unavailable:
            // A client that sent all again would push twice what was taken.
            guard result.recipientCount > 0 else { throw APIProblem.unavailable }
            result.refuse(job.recipients, of: notification, because: "no job can be accepted now")
        }
    }

    /// - Throws: `NoApp`; `DoorTrouble`: it is not known which apps there are. Only if nothing was taken, since the client
    ///   sends all again.
    private func target(
        of notification: GorushRequest.Notification, _ result: Result
    ) async throws -> JobIntake.Target {
        let router: AppRouter
        do {
            router = try await intake.router()
        } catch {
            guard result.recipientCount > 0 else { throw error }
            throw NoApp(reason: "\(error)")
        }
        let name =
            notification.platform == .android
            ? try fcmApp(in: router) : try appleApp(of: notification, in: router)
        guard let target = try await intake.target(name) else { throw NoApp(reason: "there is no app \(name)") }
        return target
    }

    private func fcmApp(in router: AppRouter) throws(NoApp) -> String {
        switch router.match(fcmApp: fcmApp, for: producer) {
        case .app(let place): return router.apps[place].name
        case .several(let names):
            throw NoApp(
                reason: "\(names.joined(separator: ", ")) are FCM apps; choose one: /api/push?app=\(names[0])")
        case .none: throw NoApp(reason: fcmApp.map { "there is no FCM app \($0)" } ?? "there is no FCM app")
        }
    }

    private func appleApp(of notification: GorushRequest.Notification, in router: AppRouter) throws(NoApp) -> String {
        var apps = router.apps.filter { $0.carrier != .fcm && producer.may(use: $0.name) }
        if let topic = notification.topic {
            let host = notification.isSandbox == true ? "sandbox" : ""
            switch router.match(topic: topic, type: nil, for: producer, host: host) {
            case .app(let place): apps = [router.apps[place]]
            case .several(let names): apps.removeAll { !names.contains($0.name) }
            case .none: apps = []
            }
        }
        if let isSandbox = notification.isSandbox { apps.removeAll { $0.isSandbox != isSandbox } }
        guard apps.count == 1 else {
            let topic = notification.topic ?? ""
            throw NoApp(reason: "no app, or more than one, has the topic and the environment \(topic)")
        }
        return apps[0].name
    }
}
