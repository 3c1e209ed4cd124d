internal import COpenSSL

/// What OpenSSL 3 has put aside: RC2, RC4, single DES and the password schemes made of them. Old `.p12` files are
/// encrypted with RC2-40.
///
/// Owner of a library context that lives as long as one file is opened: nothing else of the program gets weak algorithms
/// by it, and no key made in it leaves it.
final class LegacyAlgorithms {
    let context: OpaquePointer
    private let providers: [OpaquePointer]

    /// Throws `.oldAlgorithm` where the provider is not installed.
    private init() throws(CryptoFailure) {
        let context = try CryptoFailure.check(OSSL_LIB_CTX_new(), "making a library context")
        var providers: [OpaquePointer] = []
        for name in ["default", "legacy"] {
            guard let provider = OSSL_PROVIDER_load(context, name) else {
                for loaded in providers { OSSL_PROVIDER_unload(loaded) }
                OSSL_LIB_CTX_free(context)
                throw CryptoFailure(
                    .oldAlgorithm,
                    "it is encrypted in an old way (RC2 or DES), and OpenSSL's legacy provider is not installed: on "
                        + "Debian 13 and later: apt install openssl-provider-legacy",
                    reasons: ErrorStack.drain().map(\.text))
            }
            providers.append(provider)
        }
        self.context = context
        self.providers = providers
    }

    deinit {
        for provider in providers.reversed() { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(context)
    }

    /// Calls `body` with the library's own context, and if that lacks an algorithm (`.oldAlgorithm`), once more with
    /// this one.
    static func ifNeeded<T>(
        _ body: (_ context: OpaquePointer?) throws(CryptoFailure) -> T
    ) throws(CryptoFailure) -> T {
        do {
            return try body(nil)
        } catch {
            guard error.code == .oldAlgorithm else { throw error }
            let legacy = try LegacyAlgorithms()
            return try withExtendedLifetime(legacy) { () throws(CryptoFailure) in try body(legacy.context) }
        }
    }
}
