"""pyapns-client as its README has it."""
from pyapns_client import APNSClient, APNSException, IOSNotification, IOSPayload

from pushes import AUTHORITY, HOST, KEY, KEY_ID, PORT, TEAM_ID, asked, tell

# There is no parameter for it.
if HOST:
    APNSClient.BASE_URLS[APNSClient.MODE_PROD] = f"https://{HOST}:{PORT}"

client = APNSClient(
    mode=APNSClient.MODE_PROD,
    root_cert_path=AUTHORITY,
    auth_key_path=KEY,
    auth_key_id=KEY_ID,
    team_id=TEAM_ID,
)
try:
    for push in asked():
        notification = IOSNotification(
            payload=IOSPayload(custom=push["payload"]),
            topic=push["topic"],
            apns_id=push.get("id"),
            # Its headers must be text for httpx 0.28.
            expiration=str(push["expiration"]) if "expiration" in push else None,
            push_type=IOSNotification.PUSH_TYPE_VOIP,
        )
        try:
            client.push(notification=notification, device_token=push["token"])
            tell(ok=True)
        except APNSException as fault:
            tell(
                ok=False,
                status=fault.status_code,
                reason=type(fault).__name__.removesuffix("Exception"),
                id=fault.apns_id,
                timestamp=getattr(fault, "timestamp", None),
            )
finally:
    client.close()
