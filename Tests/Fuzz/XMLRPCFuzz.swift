import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import XML

/// Calls over XML-RPC. What is read must be JSON, and a notification must be a job with as many recipients as it says.
enum XMLRPCFuzz {
    private static let depth = 12

    /// The input is an XML document.
    static func run(_ input: Span<UInt8>) {
        let document = DocumentReader(
            input.array, depth: MethodCallReader.elementDepth(for: depth), byteCount: 1 << 16)
        do throws(MethodFault) {
            let call = try read(document)
            check(try PyapnsCall(call.method, parameters: parsed(call.parameters).root))
        } catch {
            check(.fault(error))
        }
    }

    private static func read(_ document: DocumentReader) throws(MethodFault) -> MethodCall {
        var reader = MethodCallReader(depth: depth)
        while let event = try next(document) {
            do throws(MethodFault) {
                switch event {
                case .begin(let name): try reader.begin(name)
                case .text(let text): try reader.append(text: text)
                case .end: try reader.end()
                }
            } catch {
                throw error.at(document.place)
            }
        }
        // What libexpat accepts is complete.
        return try reader.finish()
    }

    private static func next(_ document: DocumentReader) throws(MethodFault) -> DocumentReader.Event? {
        do throws(Diagnostic) {
            return try document.next()
        } catch {
            promise(error.place != nil && error.hint != nil, "an error without place or remedy")
            throw MethodFault(malformed: error)
        }
    }

    private static func parsed(_ json: [UInt8]) -> Tape {
        var parser = JSON.Parser(limits: DocumentLimits(depth: depth))
        do throws(Diagnostic) {
            let tape = try parser.parse(json)
            promise(tape.root.kind == .sequence, "parameters that are no array")
            return tape
        } catch {
            promise(false, "parameters that are not JSON: \(error)")
            return Tape()
        }
    }

    private static func check(_ call: PyapnsCall) {
        guard case .notify(let notify) = call, notify.count > 0 else { return }
        let noon = WallTime(epochSeconds: 1_795_262_400)
        let context = JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: .frame) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        var parser = JSON.Parser()
        var reader = DocumentJobReader(parsing: notify.job, with: &parser, context: context)
        while reader.next() != nil {}
        promise(
            reader.summary.failure != nil || reader.summary.recipientCount == notify.count,
            "another number of recipients")
        promise((try? parser.parse(notify.job)) != nil, "a job that is not JSON")
    }

    /// An answer must be XML, with the code and the text of the fault.
    private static func check(_ answer: MethodResponse) {
        guard case .fault(let fault) = answer else { return }
        let document = DocumentReader(answer.bytes, depth: 8, byteCount: 1 << 16)
        var texts: [String] = []
        do throws(Diagnostic) {
            while let event = try document.next() {
                if case .text(let text) = event { texts.append(String(decoding: text, as: UTF8.self)) }
            }
        } catch {
            promise(false, "an answer that is not XML: \(error)")
        }
        promise(texts.contains("\(fault.code)") && texts.last == fault.text, "another fault: \(texts)")
    }
}
