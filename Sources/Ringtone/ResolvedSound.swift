/// The sounds somebody asked for, as names; nil where nobody did.
package struct SoundRequest: Sendable, Equatable {
    /// From the push: hostile. `default` is the same as nil.
    package var pushed: String?
    /// The app's own choice (`CXProviderConfiguration.ringtoneSound`): a name as well. `none` is silence.
    package var app: String?
    /// The user's setting: a name, an absolute path, or `none` for silence.
    package var user: String?

    package init(pushed: String? = nil, app: String? = nil, user: String? = nil) {
        self.pushed = pushed
        self.app = app
        self.user = user
    }
}

/// What a request came to: the sound to play, and those to play instead if it proves broken.
package struct ResolvedSound: Sendable, Equatable {
    /// Who chose the sound.
    package enum Step: String, Sendable {
        case pushed
        case app
        case user
        case theme
        case own
        /// The chime made in memory, when no file is left.
        case generated
        case silence
    }

    package struct Candidate: Sendable, Equatable {
        package let step: Step
        /// As people know it: the file's name without its extension.
        package let name: String
        package let path: String

        package init(step: Step, name: String, path: String) {
            self.step = step
            self.name = name
            self.path = path
        }
    }

    /// Best first. Empty: the generated chime, or silence if `isSilent`.
    package let candidates: [Candidate]
    /// Somebody who may do so chose silence (`none`, or the theme's `.disabled`).
    package let isSilent: Bool
    /// One line for each wish that could not be met: `"weixin.m4a" is not installed: ringctl sounds add FILE`.
    package let missing: [String]

    package init(candidates: [Candidate], isSilent: Bool = false, missing: [String] = []) {
        self.candidates = candidates
        self.isSilent = isSilent
        self.missing = missing
    }

    /// The step that won.
    package var step: Step { isSilent ? .silence : candidates.first?.step ?? .generated }
    package var name: String { candidates.first?.name ?? (isSilent ? "silence" : "generated chime") }
    package var path: String? { candidates.first?.path }
}
