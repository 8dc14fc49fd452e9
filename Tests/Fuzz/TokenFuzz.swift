import APNSModel
import JobFormat
import PushModel

/// Spellings of device tokens. What is read must read the same when written anew, and a fault must leave no trace.
enum TokenFuzz {
    static func run(_ input: Span<UInt8>) {
        let before: [UInt8] = [1, 2, 3]
        var bytes = before
        switch TokenSpelling.append(input, to: &bytes) {
        case .failure:
            promise(bytes == before, "a fault left bytes behind")
        case .success(let count):
            promise((1...DeviceToken.maximumByteCount).contains(count), "a token of \(count) bytes")
            promise(bytes.count == before.count + count && bytes.starts(with: before), "bytes before it changed")
            let token = DeviceToken(bytes: Array(bytes.dropFirst(before.count)))
            let hex = Array(token.hex.utf8)
            var again: [UInt8] = []
            promise(TokenSpelling.append(hex.span, to: &again) == .success(count), "its digits are refused")
            promise(again == Array(token.bytes), "its digits name another token")
        }
        packed(input)
    }

    private static func packed(_ input: Span<UInt8>) {
        var (bytes, tokens) = ([UInt8](), PackedBytes())
        let result = TokenSpelling.append(input, to: &bytes)
        switch (result, tokens.append(token: input)) {
        case (.success, nil): promise(tokens.count == 1 && Array(tokens[0]) == bytes, "packed, it is another token")
        case (.failure(let one), let other?): promise(one == other && tokens.count == 0, "packed, it is another fault")
        case (.success, _), (.failure, nil): promise(false, "packed, it has another outcome")
        }
    }
}
