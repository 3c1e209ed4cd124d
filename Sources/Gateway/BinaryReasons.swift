package import APNs

extension PushReason {
    /// The nearest status of the legacy protocol (apns.md 2.2), which is far coarser: a token of another app, another
    /// environment or a removed app is just "invalid token" there.
    package var binaryStatus: BinaryStatus {
        switch self {
        case .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered, .topicDisallowed: .invalidToken
        case .missingDeviceToken: .missingDeviceToken
        case .missingTopic: .missingTopic
        case .badTopic: .invalidTopicSize
        case .payloadEmpty: .missingPayload
        case .payloadTooLarge: .invalidPayloadSize
        case .shutdown, .serviceUnavailable, .idleTimeout: .shutdown
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
            .badPath, .methodNotAllowed:
            .protocolError
        case .internalServerError, .tooManyRequests: .processingError
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .tooManyProviderTokenUpdates:
            .unknown
        }
    }
}
