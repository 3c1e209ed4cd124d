#!/usr/bin/python3
"""A VoIP service on loopback, small and for tests: voip_service.py [--login SECONDS] [--ringctl PATH]

Apps and callers speak JSON lines with it; the port is the first line that it prints.
  app     {"do":"login","user":"alice"}                       {"what":"logged-in"}, after a while
          {"do":"token","user":"alice","token":HEX}           {"what":"token-stored","device":ID}
          {"do":"answer","call":ID}                           {"what":"connected","call":ID}
          {"do":"hangup","call":ID,"reason":TEXT}
  caller  {"do":"invite","user":"alice","call":ID,"caller":NAME}   a push; and, to who is logged in, {"what":"invite",…}
          {"do":"cancel","call":ID,"reason":REASON}           remote-cancel, remote-timeout, answered-elsewhere or
                                                              rejected-elsewhere: {"what":"ended",…} to the app
          {"do":"hangup","call":ID}
"""
import argparse, asyncio, json

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--login", type=float, default=0.3, metavar="SECONDS", help="how long a log-in takes (0.3)")
options.add_argument("--ringctl", default="ringctl", help="what sends the pushes")
options = options.parse_args()

tokens, sessions, calls = {}, {}, {}


class Call:
    def __init__(self, user, name, caller):
        self.user, self.name, self.caller, self.ended = user, name, caller, None


def tell(writer, **message):
    if writer and not writer.is_closing():
        writer.write(json.dumps(message).encode() + b"\n")


async def push(user, call, name):
    if user not in tokens:
        return
    payload = json.dumps({"callId": call, "caller": name}).encode()
    sender = await asyncio.create_subprocess_exec(
        options.ringctl, "push", "--token", tokens[user], "--payload", "-",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL)
    await sender.communicate(payload)


def invite(user, call, name):
    tell(sessions.get(user), what="invite", call=call, caller=name)


async def obey(message, writer):
    do, call = message["do"], calls.get(message.get("call"))
    if do == "login":
        await asyncio.sleep(options.login)
        sessions[message["user"]] = writer
        tell(writer, what="logged-in")
        # What has happened meanwhile: calls that still ring, and calls that are over.
        for id, known in calls.items():
            if known.user == message["user"] and known.ended:
                tell(writer, what="ended", call=id, reason=known.ended)
            elif known.user == message["user"]:
                invite(known.user, id, known.name)
    elif do == "token":
        tokens[message["user"]] = message["token"]
        tell(writer, what="token-stored", device="device-" + message["token"][:8])
    elif do == "invite":
        calls[message["call"]] = Call(message["user"], message["caller"], writer)
        await push(message["user"], message["call"], message["caller"])
        invite(message["user"], message["call"], message["caller"])
    elif call is None or call.ended:
        return
    elif do == "answer":
        tell(call.caller, what="answered", call=message["call"])
        tell(writer, what="connected", call=message["call"])
    elif writer is call.caller:
        call.ended = message.get("reason", "remote-hangup")
        tell(sessions.get(call.user), what="ended", call=message["call"], reason=call.ended)
    else:
        call.ended = message.get("reason", "hung-up")
        tell(call.caller, what="hung-up", call=message["call"], reason=call.ended)


async def serve(reader, writer):
    # Each message on its own: a log-in that takes time does not hold up what comes behind it.
    while line := await reader.readline():
        asyncio.create_task(obey(json.loads(line), writer))
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
