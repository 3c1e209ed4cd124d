internal import COpenSSL

/// A byte buffer that OpenSSL's PEM functions read from or write to: owner of one `BIO`.
final class MemoryBIO {
    let bio: OpaquePointer
    /// A read-only BIO borrows its bytes.
    private let storage: UnsafeMutablePointer<UInt8>?

    /// For writing.
    init() throws(CryptoFailure) {
        bio = try CryptoFailure.check(BIO_new(BIO_s_mem()), "making a memory buffer")
        storage = nil
    }

    /// For reading `bytes`.
    init(_ bytes: [UInt8]) throws(CryptoFailure) {
        let storage = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
        storage.initialize(from: bytes, count: bytes.count)
        guard bytes.count <= Int32.max, let bio = BIO_new_mem_buf(storage, Int32(bytes.count)) else {
            storage.deallocate()
            throw CryptoFailure.library("making a memory buffer")
        }
        self.bio = bio
        self.storage = storage
    }

    deinit {
        BIO_free(bio)
        storage?.deallocate()
    }

    /// What was written and not yet taken.
    var contents: [UInt8] {
        let size = BIO_ctrl_pending(bio)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Int(BIO_read(bio, buffer.baseAddress, Int32(size))))
        }
    }
}
