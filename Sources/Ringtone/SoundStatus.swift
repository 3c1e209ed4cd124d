/// What is known of the sound server, for the doctor.
package struct SoundStatus: Sendable, Equatable {
    package var isConnected = false
    /// Why there is no connection; nil while there is one or one is being made.
    package var failure: String?
    /// Name and version, `pulseaudio 16.1`.
    package var server: String?
    /// The default sink; nil if there is none.
    package var sinkName: String?
    package var sinkDescription: String?
    package var isMuted: Bool?
    /// Of the sink, as mixers show it: 1 is 100 %, and it may be more.
    package var volume: Double?

    package init() {}
}
