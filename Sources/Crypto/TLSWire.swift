internal import COpenSSL

/// The bytes on both sides of a session, and the BIO through which OpenSSL sees them. OpenSSL's own memory BIO keeps the
/// largest buffer that it ever had, which ten thousand idle connections cannot afford.
final class TLSWire {
    var input: [UInt8] = []
    var inputStart = 0
    var output: [UInt8] = []

    func append(_ bytes: UnsafeRawBufferPointer) {
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        input.append(contentsOf: bytes)
    }

    /// A BIO over this object, which must outlive it.
    func makeBIO() throws(CryptoFailure) -> OpaquePointer {
        let bio = try CryptoFailure.check(BIO_new(Self.method.pointer), "making a TLS buffer")
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private func read(into buffer: UnsafeMutableRawPointer, _ room: Int) -> Int {
        let count = min(room, input.count - inputStart)
        guard count > 0 else { return 0 }
        input.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress! + inputStart, byteCount: count) }
        inputStart += count
        if inputStart == input.count {
            input = []
            inputStart = 0
        }
        return count
    }

    private struct Method: @unchecked Sendable {
        // Written once, read by OpenSSL alone.
        let pointer: OpaquePointer?

        init() {
            pointer = BIO_meth_new(BIO_get_new_index() | copenssl_bio_source_sink, "ringd")
            BIO_meth_set_read(pointer) { bio, buffer, room in
                BIO_clear_flags(bio, copenssl_bio_retry_read)
                let count = TLSWire.of(bio).read(into: buffer!, Int(room))
                if count == 0 {
                    BIO_set_flags(bio, copenssl_bio_retry_read)
                    return -1
                }
                return Int32(count)
            }
            BIO_meth_set_write(pointer) { bio, buffer, count in
                TLSWire.of(bio).output.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: Int(count)))
                return count
            }
            // Flushing is all that a session asks of it.
            BIO_meth_set_ctrl(pointer) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        }
    }

    private static let method = Method()

    private static func of(_ bio: OpaquePointer?) -> TLSWire {
        Unmanaged<TLSWire>.fromOpaque(BIO_get_data(bio)!).takeUnretainedValue()
    }
}
