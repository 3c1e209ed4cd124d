/// Apple's AVFoundation holds the audio session, too; here it holds nothing else.
@_exported public import AVFAudio
