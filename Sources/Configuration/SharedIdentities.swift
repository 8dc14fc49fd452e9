import Gateways
import OpenSSL
import Synchronization

/// What apps with provider tokens share: a key takes 5 KiB, and a TLS context 24 KiB. Each lives as long as any app uses it.
final class SharedIdentities: Sendable {
    private struct Inputs: Hashable {
        let trust: TrustSource
        let options: TLSOptions
    }

    private struct Weak<Object: AnyObject & Sendable>: Sendable {
        weak let object: Object?
    }

    private let contexts = Mutex<[Inputs: Weak<TLSContext>]>([:])
    private let keys = Mutex<[ProviderKey.ID: Weak<ProviderKey>]>([:])

    /// Returns the context of apps that present no certificate, trust these authorities and use these options.
    ///
    /// - Throws: `TLSError` of category `trust` when the PEM text holds no usable certificate.
    func context(trust: TrustSource, options: TLSOptions) throws(TLSError) -> TLSContext {
        let inputs = Inputs(trust: trust, options: options)
        if let context = contexts.withLock({ $0[inputs]?.object }) { return context }
        let context = try TLSContext.client(trust: trust, options: options)
        contexts.withLock { Self.add(context, as: inputs, to: &$0) }
        return context
    }

    /// Returns the equal key that an app uses already, or this one.
    func key(_ key: ProviderKey) -> ProviderKey {
        keys.withLock { keys in
            if let known = keys[key.id]?.object { return known }
            Self.add(key, as: key.id, to: &keys)
            return key
        }
    }

    private static func add<ID: Hashable, Object>(_ object: Object, as id: ID, to table: inout [ID: Weak<Object>]) {
        table = table.filter { $0.value.object != nil }
        table[id] = Weak(object: object)
    }
}
