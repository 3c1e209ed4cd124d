#!/usr/bin/python3
"""An app that takes calls, over plain D-Bus: talk.py USER HOST:PORT (of voip_service.py); see README.md."""
import json, os, socket, sys
import dbus, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

APP, PATH, RINGD = "com.example.talk", "/com/example/talk", "org.ringd.Ringd1"
PUSHES, CALLS = "org.ringd.PushDelegate1", "org.ringd.ProviderDelegate1"
REASONS = {"remote-timeout": 3, "answered-elsewhere": 4, "rejected-elsewhere": 5}  # CXCallEndedReason; else remoteEnded

bus = dbus.SessionBus(mainloop=dbus.mainloop.glib.DBusGMainLoop())
owned = dbus.service.BusName(APP, bus)  # who owns the name is the app
ringd = dbus.Interface(bus.get_object(RINGD, "/org/ringd/Ringd1"), "org.ringd.CallProvider1")
registry = dbus.Interface(ringd.proxy_object, "org.ringd.PushRegistry1")
user, service = sys.argv[1], socket.create_connection(sys.argv[2].split(":"))
answers = {}  # calls that the user has answered, and the action that is to be fulfilled
def log(*words): print(*words, flush=True)
def send(**message): service.sendall(json.dumps(message).encode() + b"\n")
def tell(method, *values):
    method(*values, reply_handler=lambda *_: None, error_handler=lambda error: log("refused", error.get_dbus_name()))

class Talk(dbus.service.Object):
    @dbus.service.method(PUSHES, in_signature="saya{sv}")
    def DidUpdatePushCredentials(self, kind, token, details):
        if not details["uploaded"]: send(do="token", user=user, token=bytes(token).hex())
    @dbus.service.method(PUSHES, in_signature="staya{sv}")
    def DidReceiveIncomingPush(self, kind, push, payload, metadata):
        log("push", metadata["call"], json.loads(bytes(payload))["caller"])  # it rings already; replying completes the push
    @dbus.service.method(CALLS, in_signature="ssa{sv}")
    def PerformAnswerCall(self, action, call, details):
        answers[str(call)] = action
        send(do="answer", call=str(call))  # fulfilled when the far end is connected: see below
    @dbus.service.method(CALLS, in_signature="ssa{sv}")
    def PerformEndCall(self, action, call, details):
        log("end", call, details["reason"])
        send(do="hangup", call=str(call), reason=str(details["reason"]))
        tell(ringd.FulfillAction, action, {})
    @dbus.service.method(CALLS, in_signature="ssa{sv}")
    def PerformSetHeldCall(self, action, call, details):
        log("held" if details["on-hold"] else "resumed", call)
        tell(ringd.FulfillAction, action, {})

def heard(source, condition, lines=service.makefile("r")):
    message = json.loads(lines.readline() or os._exit(0))
    what, call = message["what"], message.get("call")
    log(what, call or "")
    if what == "logged-in": tell(ringd.SetSession, APP, "up")
    elif what == "token-stored": tell(registry.MarkUploaded, APP, "voip", message["device"])
    elif what == "invite": tell(ringd.ReportNewIncomingCall, APP, call, {"caller": message["caller"]})
    elif what == "connected": tell(ringd.FulfillAction, answers.pop(call), {})
    elif what == "ended": tell(ringd.ReportCallEnded, call, dbus.UInt32(REASONS.get(message["reason"], 2)), {})
    return True

talk = Talk(bus, PATH)
GLib.io_add_watch(service, GLib.IO_IN, heard)
registry.Register(APP, dbus.ObjectPath(PATH), {"account": user})
ringd.Register(APP, dbus.ObjectPath(PATH), {"session": "connecting", "localized-name": "Talk"})
send(do="login", user=user)
GLib.MainLoop().run()
