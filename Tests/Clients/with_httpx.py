"""httpx, with a provider token by PyJWT: what a backend without a library for APNs does."""
import ssl
import time

import httpx
import jwt

from pushes import AUTHORITY, CERTIFICATE, HOST, KEY, KEY_ID, PORT, TEAM_ID, asked, tell

context = ssl.create_default_context(cafile=AUTHORITY) if AUTHORITY else True
authorization = {}
if CERTIFICATE:
    context = ssl.create_default_context(cafile=AUTHORITY)
    context.load_cert_chain(CERTIFICATE)
else:
    with open(KEY) as key:
        token = jwt.encode(
            {"iss": TEAM_ID, "iat": int(time.time())}, key.read(), algorithm="ES256", headers={"kid": KEY_ID}
        )
    authorization = {"authorization": f"bearer {token}"}

base = f"https://{HOST}:{PORT}" if HOST else "https://api.push.apple.com"
with httpx.Client(http2=True, verify=context, base_url=base, headers=authorization) as client:
    for push in asked():
        headers = {"apns-topic": push["topic"], "apns-push-type": "voip"}
        for name in "id", "expiration", "priority":
            if name in push:
                headers[f"apns-{name}"] = str(push[name])
        answer = client.post(f"/3/device/{push['token']}", json=push["payload"], headers=headers)
        body = answer.json() if answer.content else {}
        tell(
            ok=answer.is_success,
            status=answer.status_code,
            reason=body.get("reason"),
            timestamp=body.get("timestamp"),
            id=answer.headers.get("apns-id"),
            protocol=answer.http_version,
        )
