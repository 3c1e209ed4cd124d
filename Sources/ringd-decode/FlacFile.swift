internal import CSndFile
internal import Glibc

/// A FLAC file being written under a temporary name beside its own; it appears whole or not at all.
final class FlacFile {
    private let path: String
    private let draft: String
    private var descriptor: Int32
    private var file: OpaquePointer?
    private let channels: Int

    init(_ path: String, rate: Int32, channels: Int32) throws(DecodeFailure) {
        self.path = path
        self.channels = Int(channels)
        draft = "\(path).\(getpid()).part"
        descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw DecodeFailure(
                file: path, cause: "cannot be written (\(String(cString: strerror(errno))))",
                cure: "name a folder that exists and is yours")
        }
        var info = SF_INFO()
        info.samplerate = rate
        info.channels = channels
        info.format = Int32(SF_FORMAT_FLAC | SF_FORMAT_PCM_16)
        file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, 0)
        guard file != nil else { throw failure("FLAC was refused (\(String(cString: sf_strerror(nil))))") }
    }

    deinit {
        if let file { sf_close(file) }
        if descriptor >= 0 {
            close(descriptor)
            unlink(draft)
        }
    }

    func append(_ samples: UnsafePointer<Int16>, frames: Int) throws(DecodeFailure) {
        guard sf_writef_short(file, samples, sf_count_t(frames)) == sf_count_t(frames) else {
            throw failure("writing stopped (\(String(cString: sf_strerror(file))))")
        }
    }

    /// Puts the finished file at its name.
    func finish() throws(DecodeFailure) {
        let closed = sf_close(file)
        file = nil
        guard closed == 0, fsync(descriptor) == 0, rename(draft, path) == 0 else {
            throw failure("cannot be finished (\(String(cString: strerror(errno))))")
        }
        close(descriptor)
        descriptor = -1
    }

    private func failure(_ cause: String) -> DecodeFailure {
        DecodeFailure(file: path, cause: cause, cure: "is the disk full?")
    }
}
