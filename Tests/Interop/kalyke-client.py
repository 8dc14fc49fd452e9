"""Sends notifications with kalyke, a client that others wrote, to a gateway on localhost, and counts the answers.

usage: kalyke-client.py PORT COUNT KEY_FILE KEY_ID TEAM_ID

The last notification goes to a token of zeros. Trusts what SSL_CERT_FILE names. Prints one line: each answer and how often it
came.
"""

import asyncio
import collections
import secrets
import sys

import kalyke
from kalyke import exceptions

PORT, COUNT, KEY_FILE, KEY_ID, TEAM_ID = sys.argv[1:]


class Client(kalyke.ApnsClient):
    """Only the host is another."""

    _base_url = f"https://localhost:{PORT}"


async def answer(client: Client, token: str) -> str:
    payload = kalyke.Payload(alert=kalyke.PayloadAlert(title="Storm", body="Within the hour"), badge=1)
    config = kalyke.ApnsConfig(topic="com.example.weather")
    try:
        await client.send_message(device_token=token, payload=payload, apns_config=config)
    except exceptions.ApnsProviderException as error:
        return type(error).__name__
    return "200"


async def main() -> None:
    client = Client(use_sandbox=True, team_id=TEAM_ID, auth_key_id=KEY_ID, auth_key_filepath=KEY_FILE)
    tokens = [secrets.token_hex(32) for _ in range(int(COUNT))] + ["not-a-token"]
    answers = collections.Counter([await answer(client, token) for token in tokens])
    print(", ".join(f"{answer}: {times}" for answer, times in sorted(answers.items())))


asyncio.run(main())
