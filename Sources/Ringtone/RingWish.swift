package import Base

/// What shall be heard now. The player converges to it; a restart of the sound server changes nothing of it.
package struct RingWish: Sendable, Equatable {
    /// The call it rings for; events carry it.
    package var id: CallUUID
    /// With the sounds to fall back on, best first.
    package var sound: ResolvedSound
    /// 0…1 as on a volume slider; the sink's own volume is never touched.
    package var volume: Double
    /// Seconds in which it rises from -30 dB to `volume`; 0 for none.
    package var ramp: Double
    /// A call is waiting behind another one: quietly.
    package var soft: Bool
    /// False plays it once.
    package var loops: Bool

    package init(
        id: CallUUID, sound: ResolvedSound, volume: Double = 1, ramp: Double = 0, soft: Bool = false, loops: Bool = true
    ) {
        self.id = id
        self.sound = sound
        self.volume = volume
        self.ramp = ramp
        self.soft = soft
        self.loops = loops
    }

    var gain: Gain { Gain(volume: volume, ramp: ramp, isSoft: soft) }

    /// True if `other` is the same ring at, perhaps, another loudness.
    func isSameSound(as other: RingWish) -> Bool { id == other.id && sound == other.sound && loops == other.loops }
}
