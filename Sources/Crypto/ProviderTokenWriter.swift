internal import Base

/// Writes provider tokens: the JWT that a sender shows to APNs (apns.md 1.5).
package enum ProviderTokenWriter {
    /// A token of ES256 with the raw form of signature: header `alg` and `kid`, claims `iss` and `iat`, nothing else.
    /// `issuedAt`: seconds since 1970; APNs takes a token for one hour from then on.
    package static func token(
        key: SigningKey, keyID: String, teamID: String, issuedAt: Int64
    ) throws(CryptoFailure) -> String {
        let header = #"{"alg":"ES256","kid":\#(quoted(keyID))}"#
        let claims = #"{"iss":\#(quoted(teamID)),"iat":\#(issuedAt)}"#
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// A JSON string (RFC 8259, 7).
    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where scalar.value < 0x20: out += "\\u00" + Hex.text([UInt8(scalar.value)])
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
