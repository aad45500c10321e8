import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificates } from "../certificates.ts";
import { freePort } from "../free-port.ts";
import { mailPassword } from "./dovecot.ts";
import { programOf, startServer } from "./server-process.ts";

/** A mail that the server took. */
export interface TakenMail {
  from: string;
  to: string[];
  data: string;
}

/** A server of SMTP (aiosmtpd) that delivers mail to `@lan.example` by LMTP. */
export interface SmtpServer {
  port: number;
  taken(): Promise<TakenMail[]>;
  stop(): Promise<void>;
}

export async function startSmtpServer(
  folder: string,
  certificate: Certificates,
  { lmtpPort, security }: { lmtpPort: number; security: "tls" | "starttls" },
): Promise<SmtpServer> {
  // The package installs its module for Debian's own Python.
  const python = programOf("/usr/bin/python3", "python3-aiosmtpd");
  const port = await freePort();
  const log = join(folder, `smtp-${security}.jsonl`);
  const script = join(import.meta.dirname, "smtp_server.py");
  const { cert, key } = certificate;
  const args = [script, String(port), cert, key, String(lmtpPort), mailPassword, log, security];
  const { stop } = await startServer(python, args, [port]);
  return {
    port,
    stop,
    async taken() {
      const text = await readFile(log, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
  };
}
