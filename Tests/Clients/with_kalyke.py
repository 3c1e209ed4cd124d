"""kalyke as its README has it."""
import asyncio

from kalyke import VoIPApnsConfig, VoIPClient
from kalyke.exceptions import ApnsProviderException

from pushes import HOST, KEY, KEY_ID, PORT, TEAM_ID, asked, tell


class ElsewhereClient(VoIPClient):
    """There is no parameter for it."""

    @property
    def _base_url(self):
        return f"https://{HOST}:{PORT}"


async def main():
    client = (ElsewhereClient if HOST else VoIPClient)(
        use_sandbox=False, team_id=TEAM_ID, auth_key_id=KEY_ID, auth_key_filepath=KEY
    )
    for push in asked():
        options = {"expiration": push["expiration"]} if "expiration" in push else {}
        config = VoIPApnsConfig(topic=push["topic"], identifier=push.get("id"), **options)
        try:
            answer = await client.send_message(
                device_token=push["token"], payload=push["payload"], apns_config=config
            )
            tell(ok=True, id=answer)
        except ApnsProviderException as fault:
            tell(ok=False, reason=type(fault).__name__, timestamp=fault.error.get("timestamp"))


asyncio.run(main())
