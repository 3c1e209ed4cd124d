"""pushjack as its README has it: one message to all tokens, over the legacy binary protocol.

Arguments: a JSON object with alert, extra and tokens, for pushes; nothing, for the feedback service.
PUSH_FEEDBACK_PORT is that of the feedback service, PUSH_PATIENCE the seconds to wait for an error packet.
"""
import os

from pushjack import APNSClient

from pushes import CERTIFICATE, HOST, PORT, asked, tell

# There are no parameters for them.
if HOST:
    APNSClient.host = APNSClient.feedback_host = HOST
    APNSClient.port = PORT
    APNSClient.feedback_port = int(os.environ.get("PUSH_FEEDBACK_PORT", 0))

client = APNSClient(certificate=CERTIFICATE, default_error_timeout=float(os.environ.get("PUSH_PATIENCE", 10)))
pushes = asked()
if not pushes:
    for expired in client.get_expired_tokens():
        tell(token=expired.token, timestamp=expired.timestamp)
for push in pushes:
    answer = client.send(push["tokens"], push["alert"], extra=push.get("extra"), expiration=0)
    for token in push["tokens"]:
        error = answer.token_errors.get(token)
        tell(
            ok=error is None,
            token=token,
            status=error and error.code,
            reason=error and error.description,
            identifier=error and error.identifier,
        )
    client.close()
