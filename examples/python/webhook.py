"""Receives the events of a webhook, and checks their signatures: pip install standardwebhooks"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.reply(401)
        if event["type"] == "notification.unread":
            for item in event["data"]["items"]:
                print(event["data"]["user"]["externalId"], item.get("title"), flush=True)
        self.reply(204)

    def reply(self, status):
        self.send_response(status)
        self.end_headers()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
