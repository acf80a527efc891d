"""A backend in Python that sends, and issues tokens for its own users. It needs only the standard library."""

import json
import os
from urllib.parse import quote
from urllib.request import Request, urlopen

URL = os.environ.get("CARILLON_URL", "http://127.0.0.1:7464")
KEY = os.environ["CARILLON_PRODUCER_KEY"]


def carillon(method, path, body, **headers):
    headers |= {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = Request(URL + path, json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=30) as response:
        return json.load(response)["data"]


def send(external_id, title, idempotency_key, **content):
    """Call it again with the same key after an error: the user gets one notification."""
    body = {"recipients": [{"externalId": external_id}], "title": title, **content}
    return carillon("POST", "/api/notifications", body, **{"Idempotency-Key": idempotency_key})


def token_for(external_id, name):
    """For the page of a user who is signed in to your application: opens the inbox, for 15 minutes at most."""
    user = "/api/users/external/" + quote(external_id, safe="")
    carillon("PUT", user, {"displayName": name})
    return carillon("POST", user + "/tokens", {"scope": "inbox"})["token"]


if __name__ == "__main__":
    print(send("customers/7", "Order 7 is on its way", "order-7-shipped", url="/orders/7")["results"][0]["status"])
    print(token_for("customers/7", "Ann").count("."))
