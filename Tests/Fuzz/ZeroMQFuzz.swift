import Document
import DoorModel
import JSON
import JobFormat
import PushModel

/// Commands to the ZeroMQ door. What it takes in must be a job for as many devices as its number says.
enum ZeroMQFuzz {
    private static let noon = WallTime(epochSeconds: 1_795_262_400)

    /// The first byte chooses the protocol, the rest is a request.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 1 else { return }
        let request = input.extracting(droppingFirst: 1).array
        let context = context(Carrier.allCases[Int(input[0]) % Carrier.allCases.count])
        do throws(CommandFault) {
            guard case .send(let command) = try PushCommand(request, at: noon) else { return }
            var (job, parser) = ([UInt8](), JSON.Parser())
            command.appendJob(to: &job)
            if let fault = command.fault(of: job, parser: &parser, in: context) { throw fault }
            check(command, &parser, job, context)
        } catch {
            let reply = CommandReply.refused(error).bytes
            promise(reply.starts(with: "ERROR ".utf8), "a refusal that does not say so")
            promise(reply.count < 400 + request.count, "a refusal that is longer than its request")
        }
    }

    /// Reads the job as the daemon will.
    private static func check(
        _ command: SendCommand, _ parser: inout JSON.Parser, _ job: [UInt8], _ context: JobContext
    ) {
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context)
        var count = 0
        while let chunk = reader.next() {
            promise(chunk.rejected.isEmpty, "a device that the daemon refuses")
            for batch in chunk.batches {
                count += batch.count
                promise(batch.attributes.expiration == command.expiration, "another expiration")
                for index in batch.indices { promise(batch.addressBytes(at: index).count == 32, "another token") }
            }
        }
        let summary = reader.summary
        promise(summary.failure == nil && count == command.count, "a job that the daemon refuses")
        promise(count > 0 && count <= job.count / 64, "more devices than tokens")
    }

    private static func context(_ carrier: Carrier) -> JobContext {
        JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: carrier) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
    }
}
