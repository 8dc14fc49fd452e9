/// An element of an XML-RPC call, and what may stand in it.
enum CallElement: String, Sendable {
    case methodCall, methodName, params, param, value
    case array, data, member, name
    case structure = "struct"
    case string, int, i4, i8, boolean, double
    case null = "nil"
    /// The spelling of Apache's extensions.
    case extendedNull = "ex:nil"
    case time = "dateTime.iso8601"
    case base64

    /// Whether the element is the type of a value.
    var isType: Bool {
        switch self {
        case .array, .structure, .string, .int, .i4, .i8, .boolean, .double, .null, .extendedNull, .time, .base64: true
        case .methodCall, .methodName, .params, .param, .value, .data, .member, .name: false
        }
    }

    /// Whether text in the element has a meaning. White space may stand anywhere.
    var holdsText: Bool {
        switch self {
        case .methodName, .name, .value, .string, .int, .i4, .i8, .boolean, .double: true
        case .methodCall, .params, .param, .array, .data, .structure, .member, .null, .extendedNull, .time, .base64:
            false
        }
    }

    /// Whether `child` may be the `index`th child, counted from 0.
    func admits(_ child: CallElement, at index: Int) -> Bool {
        switch self {
        case .methodCall: index == 0 && child == .methodName || index == 1 && child == .params
        case .params: child == .param
        case .param: index == 0 && child == .value
        case .value: index == 0 && child.isType
        case .array: index == 0 && child == .data
        case .data: child == .value
        case .structure: child == .member
        case .member: index == 0 && child == .name || index == 1 && child == .value
        case .methodName, .name, .string, .int, .i4, .i8, .boolean, .double, .null, .extendedNull, .time, .base64: false
        }
    }

    /// What a complete element has, for messages; `nil` if it may be empty.
    var content: (childCount: Int, text: String)? {
        switch self {
        case .methodCall: (1, "a `methodName`")
        case .param: (1, "a `value`")
        case .array: (1, "a `data`")
        case .member: (2, "a `name` and a `value`")
        case .methodName, .params, .value, .data, .structure, .name, .string, .int, .i4, .i8, .boolean, .double, .null,
            .extendedNull, .time, .base64:
            nil
        }
    }
}
