/// What can be fuzzed; each case takes any bytes whatever.
enum Harness: String, CaseIterable {
    case binary
    case token
    case lines
    case document
    case frames
    case headers
    case heads
    case conversation
    case server
    case reply
    case proxy
    case journal
    case relay
    case xmlrpc
    case zeromq
    case api
    case message

    /// Feeds one input to what is fuzzed.
    func run(_ input: Span<UInt8>) {
        switch self {
        case .binary: BinaryFuzz.run(input)
        case .token: TokenFuzz.run(input)
        case .lines: JobFuzz.runLines(input)
        case .document: JobFuzz.runDocument(input)
        case .frames: FrameFuzz.run(input)
        case .headers: HeaderFuzz.runDecoder(input)
        case .heads: HeaderFuzz.runEncoder(input)
        case .conversation: ConversationFuzz.run(input)
        case .server: ServerFuzz.run(input)
        case .reply: ReplyFuzz.run(input)
        case .proxy: ProxyFuzz.run(input)
        case .journal: JournalFuzz.run(input)
        case .relay: RelayFuzz.run(input)
        case .xmlrpc: XMLRPCFuzz.run(input)
        case .zeromq: ZeroMQFuzz.run(input)
        case .api: APIFuzz.run(input)
        case .message: MessageFuzz.run(input)
        }
    }
}
