internal import CNGHTTP2
internal import Glibc

/// Memory for sessions of one loop: as malloc(3) gives it, but for the 16 KiB in which a session lays out the frame that it
/// is about to send. That content is copied before another session can run, so all of them share one such piece: it is two
/// fifths of what an idle connection costs (Docs/decisions.md).
///
/// nghttp2 asks for the piece once, when a session is made, and never for another of that size, since header blocks are
/// kept below a frame's (`nghttp2_option_set_max_send_header_block_length`). A request of any other size, as another version
/// of nghttp2 may make it, is served by malloc(3).
package final class FrameScratch {
    /// 16,384 bytes of payload, the head of 9, one for padding, and what nghttp2 adds.
    private static let sizes = 16_384...16_512

    private let piece = UnsafeMutableRawPointer.allocate(byteCount: sizes.upperBound, alignment: 16)
    /// For `nghttp2_session_server_new3`, which copies the table.
    let functions: UnsafeMutablePointer<nghttp2_mem>

    package init() {
        functions = .allocate(capacity: 1)
        functions.initialize(
            to: nghttp2_mem(
                mem_user_data: piece,
                malloc: { size, _ in Glibc.malloc(size) },
                free: { pointer, piece in if pointer != piece { Glibc.free(pointer) } },
                calloc: { count, size, _ in Glibc.calloc(count, size) },
                realloc: { pointer, size, piece in
                    if pointer == nil && FrameScratch.sizes.contains(size) { return piece }
                    guard pointer == piece, pointer != nil else { return Glibc.realloc(pointer, size) }
                    guard let made = Glibc.malloc(size) else { return nil }
                    memcpy(made, piece!, min(size, FrameScratch.sizes.lowerBound))
                    return made
                }))
    }

    deinit {
        functions.deallocate()
        piece.deallocate()
    }
}
