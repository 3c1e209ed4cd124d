"""mopyapns (module apns2) as its README has it. PUSH_ALTERNATIVE: its use_alternative_port, 2197."""
import os

from apns2.client import APNsClient
from apns2.credentials import CertificateCredentials, TokenCredentials
from apns2.errors import APNsException
from apns2.payload import Payload

from pushes import CERTIFICATE, HOST, KEY, KEY_ID, PORT, TEAM_ID, asked, tell

# There are no parameters for them.
if HOST:
    APNsClient.LIVE_SERVER = HOST
    APNsClient.DEFAULT_PORT = PORT

if CERTIFICATE:
    credentials = CertificateCredentials(CERTIFICATE)
else:
    credentials = TokenCredentials(auth_key_path=KEY, auth_key_id=KEY_ID, team_id=TEAM_ID)
client = APNsClient(
    credentials=credentials, use_sandbox=False, use_alternative_port=bool(os.environ.get("PUSH_ALTERNATIVE"))
)
for push in asked():
    try:
        client.send_notification(
            push["token"], Payload(custom=push["payload"]), push["topic"], expiration=push.get("expiration")
        )
        tell(ok=True)
    except APNsException as fault:
        tell(ok=False, reason=type(fault).__name__, timestamp=getattr(fault, "timestamp", None))
