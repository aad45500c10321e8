import { isIP } from "node:net";
import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { TimeZone } from "../ports/event-time.ts";
import { EmailAddress, LineText, Person } from "../ports/person.ts";

/** A server of IMAP or SMTP. */
export const MailServer = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[\w.:-]+$/, "is not the name of a host"),
  port: z.int().min(1).max(65_535),
  /** `tls` from the first byte, or after STARTTLS, which has to succeed. `plain` sends the password unencrypted. */
  security: z.enum(["tls", "starttls", "plain"]).default("tls"),
});
export type MailServer = z.output<typeof MailServer>;

const davUrl = z.url({ protocol: /^https?$/, error: "is not a URL such as https://dav.example.org/" });

/** An account at servers of IMAP, SMTP, CalDAV and CardDAV. */
export const StandardAccount = z
  .strictObject({
    /** The name and address of the user. Mail is sent from it. */
    user: Person,
    /** Default: the address of the user. */
    username: LineText.min(1).max(254).nullable().default(null),
    password: z.string().min(1, "is empty").max(1_000),
    imap: MailServer.nullable().default(null),
    smtp: MailServer.nullable().default(null),
    caldav: davUrl.nullable().default(null),
    carddav: davUrl.nullable().default(null),
    /** The name or URL of the calendar for new events. Default: the first one. */
    calendar: LineText.max(1_000).nullable().default(null),
    /** The zone of the calendar. Default: the zone of this machine. */
    timeZone: TimeZone.nullable().default(null),
    /** Calendars of other people that this account may read: their busy times are known. */
    colleagues: z
      .array(z.strictObject({ address: EmailAddress, calendarUrl: davUrl }))
      .max(50)
      .default([]),
    /** Sends the password without TLS also to hosts other than this machine. */
    allowPlain: z.boolean().default(false),
    timeoutMs: z.int().min(1).default(30_000),
    clock: z.custom<Pick<Clock, "now">>().default(() => systemClock()),
  })
  .superRefine((account, context) => {
    for (const [param, problem] of plainProblems(account)) {
      context.addIssue({ code: "custom", path: [param], message: problem });
    }
  });
export type StandardAccount = z.input<typeof StandardAccount>;
/** An account after its check. */
export type CheckedAccount = z.output<typeof StandardAccount>;

interface Servers {
  imap: MailServer | null;
  smtp: MailServer | null;
  caldav: string | null;
  carddav: string | null;
  allowPlain: boolean;
}

/** A password leaves this machine with TLS, unless the user asks for a connection without it. */
function plainProblems({ imap, smtp, caldav, carddav, allowPlain }: Servers): [string, string][] {
  if (allowPlain) return [];
  const hosts: [string, string | null][] = [
    ["imap", imap?.security === "plain" ? imap.host : null],
    ["smtp", smtp?.security === "plain" ? smtp.host : null],
    ["caldav", plainHost(caldav)],
    ["carddav", plainHost(carddav)],
  ];
  return hosts.flatMap(([param, host]) =>
    host === null || isLoopback(host)
      ? []
      : [[param, `would send the password to ${host} without TLS; use TLS, or set allowPlain`] as [string, string]],
  );
}

function plainHost(url: string | null): string | null {
  if (url === null) return null;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" ? hostname : null;
}

/** Whether a host is this machine by its own name or address. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
