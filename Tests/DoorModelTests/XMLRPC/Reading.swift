import Document
import DoorModel
import JSON
import XML

/// Reads a document as a call, as a door does.
///
/// - Throws: `MethodFault`: what the door answers.
func methodCall(_ xml: [UInt8], depth: Int = 16) throws(MethodFault) -> MethodCall {
    let document = DocumentReader(xml, depth: MethodCallReader.elementDepth(for: depth), byteCount: 1 << 20)
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
    return try reader.finish()
}

/// Reads a document as a call of pyapns.
///
/// - Throws: `MethodFault`: what the door answers.
func pyapnsCall(_ xml: [UInt8]) throws(MethodFault) -> PyapnsCall {
    let call = try methodCall(xml)
    do {
        var parser = JSON.Parser()
        return try PyapnsCall(call.method, parameters: parser.parse(call.parameters).root)
    } catch let fault as MethodFault {
        throw fault
    } catch {
        throw .notAccepted("the parameters are not JSON: \(error)")
    }
}

/// A call of the method `m` whose parameters are the given values, as XML.
func xml(_ values: String..., method: String = "m") -> [UInt8] {
    let parameters = values.map { "<param><value>\($0)</value></param>" }.joined()
    return Array("<methodCall><methodName>\(method)</methodName><params>\(parameters)</params></methodCall>".utf8)
}

private func next(_ document: DocumentReader) throws(MethodFault) -> DocumentReader.Event? {
    do throws(Diagnostic) {
        return try document.next()
    } catch {
        throw MethodFault(malformed: error)
    }
}

/// The fault that a document leads to as a call of pyapns; `nil` if it is accepted.
func fault(of xml: [UInt8]) -> MethodFault? {
    do throws(MethodFault) {
        _ = try pyapnsCall(xml)
        return nil
    } catch {
        return error
    }
}
