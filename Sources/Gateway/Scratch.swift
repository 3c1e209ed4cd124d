/// Buffers that every connection of a gateway uses in turn and keeps nothing in, so that an idle one costs none.
final class Scratch {
    /// Bytes as they are on the wire.
    let wire = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)
    /// Bytes as they are inside TLS: a record's worth.
    let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    deinit {
        wire.deallocate()
        plain.deallocate()
    }
}
