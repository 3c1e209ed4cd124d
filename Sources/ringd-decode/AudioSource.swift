internal import CLibAV

/// The best audio track of a file, decoded to interleaved 16-bit samples. Owns every libav object it makes.
///
/// libavcodec itself drops an encoder's priming where the container tells of it (MP4 edit lists, LAME headers, Ogg).
final class AudioSource {
    private let path: String
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var packet = av_packet_alloc()
    private var frame = av_frame_alloc()
    private var resampler: OpaquePointer?
    private let track: Int32
    /// Frames per second of what comes out.
    let rate: Int32
    /// 1 or 2; the first block decides.
    private let channels: Int32

    /// Formats that hold sound. Playlists (hls, concat, …) are not among them: they would name other files to read.
    private static let formats =
        "aac,ac3,eac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,flac,flv,matroska,mov,mp3,mpc,mpc8,mpegts,ogg,oma,"
        + "tta,voc,w64,wav,wv,xwma"

    init(_ path: String) throws(DecodeFailure) {
        self.path = path
        av_log_set_level(AV_LOG_QUIET)
        var options: OpaquePointer?
        av_dict_set(&options, "protocol_whitelist", "file", 0)
        av_dict_set(&options, "format_whitelist", Self.formats, 0)
        // The prefix keeps a name like "http:x" a name.
        let opened = avformat_open_input(&format, "file:" + path, nil, &options)
        av_dict_free(&options)
        guard opened >= 0 else { throw Self.failure(path, opened, "is not a sound file that libavformat reads") }
        let found = avformat_find_stream_info(format, nil)
        guard found >= 0 else {
            avformat_close_input(&format)
            throw Self.failure(path, found, "has a damaged header")
        }
        var decoder: UnsafePointer<AVCodec>?
        track = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, -1, &decoder, 0)
        guard track >= 0, let decoder, let stream = format?.pointee.streams[Int(track)] else {
            avformat_close_input(&format)
            throw DecodeFailure(file: path, cause: "has no audio track with a known codec", cure: "name a sound file")
        }
        codec = avcodec_alloc_context3(decoder)
        avcodec_parameters_to_context(codec, stream.pointee.codecpar)
        // Without the packets' time base libavcodec could not tell how much to skip.
        codec?.pointee.pkt_timebase = stream.pointee.time_base
        let begun = avcodec_open2(codec, decoder, nil)
        let count = stream.pointee.codecpar.pointee.ch_layout.nb_channels
        let sourceRate = stream.pointee.codecpar.pointee.sample_rate
        guard begun >= 0, sourceRate > 0, (1...64).contains(count) else {
            avcodec_free_context(&codec)
            avformat_close_input(&format)
            throw Self.failure(path, begun, "has an audio track that cannot be decoded")
        }
        rate = min(max(sourceRate, Limit.rates.lowerBound), Limit.rates.upperBound)
        channels = min(count, 2)
        for index in 0..<Int(format!.pointee.nb_streams) where index != Int(track) {
            format!.pointee.streams[index]!.pointee.discard = AVDISCARD_ALL
        }
    }

    deinit {
        swr_free(&resampler)
        av_frame_free(&frame)
        av_packet_free(&packet)
        avcodec_free_context(&codec)
        avformat_close_input(&format)
    }

    /// How many frames an MP4's edit list leaves, at the track's own rate; nil where the container does not say exactly.
    var editedFrames: Int64? {
        guard let format, String(cString: format.pointee.iformat.pointee.name).hasPrefix("mov") else { return nil }
        let stream = format.pointee.streams[Int(track)]!.pointee
        let sourceRate = stream.codecpar.pointee.sample_rate
        // A coarser time scale cannot name a frame.
        guard stream.duration > 0, stream.time_base.num == 1, stream.time_base.den == sourceRate else { return nil }
        return stream.duration
    }

    /// Frames of the source as frames of the output.
    func outputFrames(_ frames: Int64) -> Int64 {
        av_rescale(
            frames, Int64(rate), Int64(format!.pointee.streams[Int(track)]!.pointee.codecpar.pointee.sample_rate))
    }

    /// Calls `body` with (samples, frames, channels) block after block, until it returns false or the sound ends.
    ///
    /// A damaged packet is skipped, as every player does.
    func forEachBlock(
        _ body: (UnsafePointer<Int16>, Int, Int32) throws(DecodeFailure) -> Bool
    ) throws(DecodeFailure) {
        while av_read_frame(format, packet) >= 0 {
            defer { av_packet_unref(packet) }
            guard packet!.pointee.stream_index == track, avcodec_send_packet(codec, packet) >= 0 else { continue }
            guard try drain(body) else { return }
        }
        avcodec_send_packet(codec, nil)
        guard try drain(body) else { return }
        if resampler != nil { _ = try emit(nil, frames: 0, body) }
    }

    private func drain(
        _ body: (UnsafePointer<Int16>, Int, Int32) throws(DecodeFailure) -> Bool
    ) throws(DecodeFailure) -> Bool {
        while avcodec_receive_frame(codec, frame) >= 0 {
            defer { av_frame_unref(frame) }
            try prepareResampler()
            guard try emit(frame!.pointee.extended_data, frames: frame!.pointee.nb_samples, body) else { return false }
        }
        return true
    }

    /// Makes the resampler for the frame in hand, again if the sound changed its form in the middle.
    private func prepareResampler() throws(DecodeFailure) {
        let form = frame!.pointee
        let now = Form(format: form.format, rate: form.sample_rate, channels: form.ch_layout.nb_channels)
        guard resampler == nil || now != currentForm else { return }
        currentForm = now
        swr_free(&resampler)
        var input = AVChannelLayout()
        if form.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(&input, form.ch_layout.nb_channels)
        } else {
            var layout = form.ch_layout
            av_channel_layout_copy(&input, &layout)
        }
        var output = AVChannelLayout()
        av_channel_layout_default(&output, channels)
        let made = swr_alloc_set_opts2(
            &resampler, &output, AV_SAMPLE_FMT_S16, rate, &input, AVSampleFormat(form.format), form.sample_rate, 0, nil)
        av_channel_layout_uninit(&input)
        let begun = made < 0 ? made : swr_init(resampler)
        guard begun >= 0 else { throw Self.failure(path, begun, "has channels that cannot be mixed to two") }
    }

    private struct Form: Equatable {
        let format: Int32
        let rate: Int32
        let channels: Int32
    }
    private var currentForm: Form?
    private var buffer: [Int16] = []

    private func emit(
        _ planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, frames: Int32,
        _ body: (UnsafePointer<Int16>, Int, Int32) throws(DecodeFailure) -> Bool
    ) throws(DecodeFailure) -> Bool {
        let room = max(0, swr_get_out_samples(resampler, frames))
        guard room > 0 else { return true }
        if buffer.count < Int(room) * Int(channels) { buffer = Array(repeating: 0, count: Int(room) * Int(channels)) }
        // The pointers stay inside this closure; its failure is carried out by hand, since rethrows erases the type.
        let result: Result<Bool, DecodeFailure> = buffer.withUnsafeMutableBufferPointer { out in
            var target: UnsafeMutablePointer<UInt8>? = UnsafeMutableRawPointer(out.baseAddress!)
                .assumingMemoryBound(to: UInt8.self)
            let source = UnsafeMutableRawPointer(planes)?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
            let made = swr_convert(resampler, &target, room, source, frames)
            guard made >= 0 else { return .failure(Self.failure(path, made, "cannot be resampled")) }
            guard made > 0 else { return .success(true) }
            do throws(DecodeFailure) {
                return .success(try body(UnsafePointer(out.baseAddress!), Int(made), channels))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func failure(_ path: String, _ code: Int32, _ cause: String) -> DecodeFailure {
        var text = [CChar](repeating: 0, count: 128)
        let why: String
        if code < 0, av_strerror(code, &text, text.count) == 0 {
            why = " (" + String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + ")"
        } else {
            why = ""
        }
        return DecodeFailure(file: path, cause: cause + why, cure: "try another file, or convert it to WAV first")
    }
}
