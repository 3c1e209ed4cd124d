internal import Glibc

/// What a ringtone may cost. The input is a stranger's file.
enum Limit {
    static let inputBytes: Int64 = 512 << 20
    static let seconds = 60
    /// Rates a sound server surely takes; others are resampled to the nearest of these.
    static let rates: ClosedRange<Int32> = 8000...192_000
    static let cpuSeconds: rlim_t = 30
    static let memoryBytes: rlim_t = 2 << 30
    /// 60 s of stereo at 192 kHz, were it incompressible.
    static let outputBytes: rlim_t = 64 << 20
}

/// Bounds this process, so that a file made to exhaust a decoder ends the decoder only.
func confine() {
    func bound(_ resource: __rlimit_resource, _ value: rlim_t) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        _ = setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
    bound(RLIMIT_CPU, Limit.cpuSeconds)
    bound(RLIMIT_AS, Limit.memoryBytes)
    bound(RLIMIT_FSIZE, Limit.outputBytes)
    bound(RLIMIT_CORE, 0)
}

/// Why a file was not converted: cause and cure on one line.
struct DecodeFailure: Error, CustomStringConvertible {
    let file: String
    let cause: String
    let cure: String
    var description: String { "\(file): \(cause); \(cure)" }
}
