"""What the Python senders of this folder have in common: parameters in, one JSON line out for each push.

Environment (what is not set is left to the library, whose host is Apple's):
  PUSH_HOST, PUSH_PORT          where the gateway is
  PUSH_AUTHORITY                PEM file of the authority to trust
  PUSH_KEY, PUSH_KEY_ID, PUSH_TEAM_ID   provider key, or
  PUSH_CERTIFICATE              PEM file with certificate and key
Arguments: one JSON object for each push: token, topic, payload; optional id, expiration, priority.
"""
import json
import os
import sys

HOST = os.environ.get("PUSH_HOST")
PORT = int(os.environ.get("PUSH_PORT", 0)) or None
AUTHORITY = os.environ.get("PUSH_AUTHORITY")
KEY = os.environ.get("PUSH_KEY")
KEY_ID = os.environ.get("PUSH_KEY_ID")
TEAM_ID = os.environ.get("PUSH_TEAM_ID")
CERTIFICATE = os.environ.get("PUSH_CERTIFICATE")


def asked():
    return [json.loads(text) for text in sys.argv[1:]]


def tell(**what):
    """One line of what the library reported; None is what it does not show."""
    print(json.dumps({name: value for name, value in what.items() if value is not None}), flush=True)
