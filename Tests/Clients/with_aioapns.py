"""aioapns as its README has it. PUSH_TOGETHER: all pushes at once. PUSH_PATIENCE: seconds to wait for each answer."""
import asyncio
import os
import ssl

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

from pushes import AUTHORITY, CERTIFICATE, HOST, KEY, KEY_ID, PORT, TEAM_ID, asked, tell

# There is no parameter for them.
if HOST:
    APNsProductionClientProtocol.APNS_SERVER = HOST
    APNsProductionClientProtocol.APNS_PORT = PORT


async def send(client, push):
    request = NotificationRequest(
        device_token=push["token"],
        message=push["payload"],
        notification_id=push.get("id"),
        time_to_live=push.get("expiration"),
        priority=push.get("priority"),
        push_type=PushType.VOIP,
        apns_topic=push["topic"],
    )
    try:
        patience = float(os.environ.get("PUSH_PATIENCE", 30))
        result = await asyncio.wait_for(client.send_notification(request), patience)
    except Exception as fault:
        tell(ok=False, fault=type(fault).__name__)
        return
    tell(
        ok=result.is_successful,
        status=int(result.status),
        reason=result.description,
        timestamp=result.timestamp,
        id=result.notification_id,
    )


async def main():
    context = ssl.create_default_context(cafile=AUTHORITY) if AUTHORITY else None
    pushes = asked()
    if CERTIFICATE:
        client = APNs(client_cert=CERTIFICATE, ssl_context=context)
    else:
        with open(KEY) as key:
            client = APNs(
                key=key.read(), key_id=KEY_ID, team_id=TEAM_ID, topic=pushes[0]["topic"], ssl_context=context
            )
    if os.environ.get("PUSH_TOGETHER"):
        await asyncio.gather(*(send(client, push) for push in pushes))
    else:
        for push in pushes:
            await send(client, push)


asyncio.run(main())
