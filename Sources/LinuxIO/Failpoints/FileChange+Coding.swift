#if FAILPOINTS
    extension FileChange {
        /// The change as bytes of a trace file: the length of the remainder (u32), a letter, then the fields. Numbers
        /// are little-endian. Texts and byte arrays are prefixed with their length (u32).
        package var encoded: [UInt8] {
            var writer = FieldWriter()
            switch self {
            case .madeDirectory(let directory, let name): writer.append("d", directory, name)
            case .created(let directory, let name, let file): writer.append("c", directory, name, file)
            case .opened(let directory, let name, let file): writer.append("o", directory, name, file)
            case .renamed(let directory, let name, let toDirectory, let newName):
                writer.append("r", directory, name, toDirectory, newName)
            case .linked(let directory, let name, let toDirectory, let newName):
                writer.append("l", directory, name, toDirectory, newName)
            case .removed(let directory, let name): writer.append("u", directory, name)
            case .written(let file, let offset, let bytes): writer.append("w", file, offset, bytes)
            case .allocated(let file, let byteCount): writer.append("a", file, byteCount)
            case .punched(let file, let offset, let byteCount): writer.append("p", file, offset, byteCount)
            case .syncedFile(let file): writer.append("f", file)
            case .syncedDirectory(let directory): writer.append("s", directory)
            case .syncedAll: writer.append("S")
            }
            return FieldWriter.number(UInt32(writer.bytes.count)) + writer.bytes
        }

        /// Decodes the changes in a trace file. Ignores an incomplete record at the end.
        package static func decode(_ trace: [UInt8]) -> [FileChange] {
            var reader = FieldReader(rest: trace[...])
            var changes: [FileChange] = []
            while let record = reader.bytes() {
                var fields = FieldReader(rest: record)
                guard let change = FileChange(&fields) else { break }
                changes.append(change)
            }
            return changes
        }

        private init?(_ fields: inout FieldReader) {
            guard let kind = fields.byte() else { return nil }
            switch Character(Unicode.Scalar(kind)) {
            case "d", "u", "c", "o", "r", "l": self.init(named: kind, &fields)
            case "w", "a", "p", "f": self.init(ofFile: kind, &fields)
            case "s":
                guard let directory = fields.text() else { return nil }
                self = .syncedDirectory(directory)
            case "S": self = .syncedAll
            default: return nil
            }
        }

        private init?(named kind: UInt8, _ fields: inout FieldReader) {
            guard let directory = fields.text(), let name = fields.bytes().map(Array.init) else { return nil }
            switch Character(Unicode.Scalar(kind)) {
            case "d": self = .madeDirectory(directory: directory, name: name)
            case "u": self = .removed(directory: directory, name: name)
            case "c", "o":
                guard let file = fields.number() else { return nil }
                self =
                    kind == UInt8(ascii: "c")
                    ? .created(directory: directory, name: name, file: file)
                    : .opened(directory: directory, name: name, file: file)
            default:
                guard let to = fields.text(), let newName = fields.bytes().map(Array.init) else { return nil }
                self =
                    kind == UInt8(ascii: "r")
                    ? .renamed(directory: directory, name: name, toDirectory: to, newName: newName)
                    : .linked(directory: directory, name: name, toDirectory: to, newName: newName)
            }
        }

        private init?(ofFile kind: UInt8, _ fields: inout FieldReader) {
            guard let file = fields.number() else { return nil }
            guard kind != UInt8(ascii: "f") else {
                self = .syncedFile(file)
                return
            }
            guard let number = fields.number().map({ Int64(bitPattern: $0) }) else { return nil }
            switch Character(Unicode.Scalar(kind)) {
            case "a": self = .allocated(file: file, byteCount: number)
            case "w":
                guard let bytes = fields.bytes() else { return nil }
                self = .written(file: file, offset: number, bytes: Array(bytes))
            default:
                guard let count = fields.number() else { return nil }
                self = .punched(file: file, offset: number, byteCount: Int64(bitPattern: count))
            }
        }
    }

    private protocol Field {
        var field: [UInt8] { get }
    }

    extension UInt64: Field {
        fileprivate var field: [UInt8] { FieldWriter.number(self) }
    }

    extension Int64: Field {
        fileprivate var field: [UInt8] { FieldWriter.number(UInt64(bitPattern: self)) }
    }

    extension String: Field {
        fileprivate var field: [UInt8] { Array(utf8).field }
    }

    extension [UInt8]: Field {
        fileprivate var field: [UInt8] { FieldWriter.number(UInt32(count)) + self }
    }

    private struct FieldWriter {
        var bytes: [UInt8] = []

        mutating func append(_ kind: Unicode.Scalar, _ fields: any Field...) {
            bytes.append(UInt8(ascii: kind))
            for field in fields { bytes += field.field }
        }

        static func number<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number($0 * 8)) }
        }
    }

    private struct FieldReader {
        var rest: ArraySlice<UInt8>

        mutating func byte() -> UInt8? { rest.popFirst() }

        mutating func number() -> UInt64? { take(8).map(value) }

        mutating func bytes() -> ArraySlice<UInt8>? {
            guard let count = take(4).map(value) else { return nil }
            return take(Int(count))
        }

        mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }

        private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        private func value(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
