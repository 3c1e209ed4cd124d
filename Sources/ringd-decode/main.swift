// ringd-decode: a sound file of any kind becomes FLAC. A program of its own, because libavformat takes 25 MB and 45 ms
// to link and reads hostile input; the daemon pays for neither.

internal import Glibc

let usage = """
    Usage: ringd-decode IN OUT.flac

    Turns a sound file of any kind libavformat reads (m4a, caf, mp3, wma, ...) into FLAC: 16 bit, the source's own rate,
    at most two channels, at most 60 s. Local files only, at most 512 MiB.

      ringd-decode ~/Downloads/weixin.m4a ~/.local/share/ringd/sounds/weixin.flac

    Exit status: 0 done, 1 not done (one line says why), 2 bad usage.

    """

func say(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains("--help") || arguments.contains("-h") {
    say(usage, to: 1)
    exit(0)
}
guard arguments.count == 2, !arguments.contains(where: { $0.isEmpty || $0.hasPrefix("-") }) else {
    say(usage, to: 2)
    exit(2)
}

confine()
do {
    try convert(arguments[0], to: arguments[1])
} catch {
    say("ringd-decode: \(error)\n", to: 2)
    exit(1)
}
