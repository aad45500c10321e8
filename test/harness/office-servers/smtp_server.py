"""A server of SMTP with logins, TLS, refused recipients and lost connections. It delivers to a server of LMTP.

Arguments: the port, the certificate, its key, the port of LMTP, the password, the file of the log, and "tls" or "starttls".
"""

import asyncio
import json
import smtplib
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

port, cert, key, lmtp_port, password, log, security = sys.argv[1:]


def check(server, session, envelope, mechanism, login):
    known = isinstance(login, LoginPassword) and login.password == password.encode()
    return AuthResult(success=known, auth_data=login if known else None)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown"):
            return "550 5.1.1 no such user"
        if address.startswith("later"):
            return "451 4.3.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if b"refuse this" in envelope.content:
            return "554 5.7.1 the content is refused"
        with open(log, "a", encoding="utf8") as file:
            mail = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "data": envelope.content.decode("latin1")}
            file.write(json.dumps(mail) + "\n")
        local = [address for address in envelope.rcpt_tos if address.endswith("@lan.example")]
        # LMTP answers once for each recipient, and the library reads one answer.
        for address in local:
            with smtplib.LMTP("127.0.0.1", int(lmtp_port)) as client:
                client.sendmail(envelope.mail_from, [address], envelope.content)
        if b"lose the answer" in envelope.content:
            server.transport.abort()
            await asyncio.sleep(3600)
        return "250 2.0.0 accepted"


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    starttls = security == "starttls"

    def create():
        return SMTP(
            Handler(),
            hostname="mail.lan.example",
            authenticator=check,
            auth_required=True,
            auth_require_tls=starttls,
            tls_context=context if starttls else None,
            require_starttls=starttls,
            enable_SMTPUTF8=True,
            data_size_limit=40_000_000,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(create, "127.0.0.1", int(port), ssl=None if starttls else context)
    async with server:
        await server.serve_forever()


asyncio.run(main())
