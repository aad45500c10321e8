import { makeCertificates } from "../../harness/certificates.ts";
import { mailPassword, startDovecot } from "../../harness/office-servers/dovecot.ts";
import { startSmtpServer } from "../../harness/office-servers/smtp-server.ts";
import type { Prepared } from "./example-case.ts";
import type { Shop } from "./shop.ts";

/** Servers of mail at the addresses that the example names. They run until the end of the test file. */
export async function startMailServers(shop: Shop): Promise<Prepared> {
  const { ca, imapPort, smtpPort } = await shop.once("mail", async () => {
    const folder = await shop.newFolder("mail");
    const certificates = await makeCertificates(folder);
    const dovecot = await startDovecot(folder, certificates);
    shop.atEnd(dovecot.stop);
    const smtp = await startSmtpServer(folder, certificates, { lmtpPort: dovecot.lmtpPort, security: "starttls" });
    shop.atEnd(smtp.stop);
    return { ca: certificates.ca, imapPort: dovecot.tlsPort, smtpPort: smtp.port };
  });
  return {
    words: {
      "imap.acme.example": `127.0.0.1:${imapPort}`,
      "smtp.acme.example:587": `starttls://127.0.0.1:${smtpPort}`,
    },
    env: { NODE_EXTRA_CA_CERTS: ca },
    input: `${mailPassword}\n`,
  };
}
