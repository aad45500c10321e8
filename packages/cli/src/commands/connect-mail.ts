import { connectStandard, openConnectionStore, parseMailServer, type StandardAccount } from "@troupe/connectors";
import { TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { askLine, openSecrets } from "./ask-secret.ts";

export interface ConnectMailFlags {
  address: string | null;
  /** The name of the user in outgoing mail. */
  fullName: string;
  name: string | null;
  user: string | null;
  imap: string | null;
  smtp: string | null;
  caldav: string | null;
  carddav: string | null;
  calendar: string | null;
  timeZone: string | null;
  allowPlain: boolean;
  json: boolean;
}

const hint = "troupe connect mail me@acme.example --imap imap.acme.example --smtp smtp.acme.example < PASSWORD-FILE";

/** `troupe connect mail`: tests the servers of an account, and stores it in the home. */
export async function connectMailAccount(cli: Cli, flags: ConnectMailFlags): Promise<number> {
  const address = flags.address ?? (await askLine(cli, "mail address", null));
  if (address === null) throw new TroupeError("USAGE", "the mail address is missing", { fix: hint });
  const servers = await readServers(cli, flags, address);
  const secrets = await openSecrets(cli, hint);
  const password = await secrets.next(`password of ${cleanLine(flags.user ?? address)}`);
  try {
    const account: StandardAccount = {
      ...{ user: { name: flags.fullName, address }, username: flags.user, password },
      ...{ imap: servers.imap === null ? null : parseMailServer("imap", servers.imap) },
      ...{ smtp: servers.smtp === null ? null : parseMailServer("smtp", servers.smtp) },
      ...{ caldav: servers.caldav, carddav: servers.carddav, allowPlain: flags.allowPlain },
      ...{ calendar: flags.calendar, timeZone: flags.timeZone, clock: { now: () => cli.now() } },
    };
    const { connection, tested } = await connectStandard(openConnectionStore(cli.home.path), account, flags.name);
    const { out } = cli.terminal;
    const { id, domains } = connection;
    if (flags.json) out.line(jsonLine({ id, account: connection.account, domains, tested }));
    else
      out.line(
        `${out.colours.green("connected")}  ${cleanLine(id)}  ${domains.join(", ")}  (tested: ${tested.join(", ")})`,
      );
    return 0;
  } catch (thrown) {
    throw connectionFailure(thrown);
  }
}

type Servers = Pick<ConnectMailFlags, "imap" | "smtp" | "caldav" | "carddav">;

/** A terminal asks for the servers if no flag names one. The usual names are only proposed. */
async function readServers(
  cli: Cli,
  { imap, smtp, caldav, carddav }: ConnectMailFlags,
  address: string,
): Promise<Servers> {
  if ([imap, smtp, caldav, carddav].some((server) => server !== null)) return { imap, smtp, caldav, carddav };
  if (!cli.keyboard.isTerminal) throw new TroupeError("USAGE", "no server is given", { fix: hint });
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return {
    imap: await askLine(cli, "IMAP server, as HOST or HOST:PORT", `imap.${domain}`),
    smtp: await askLine(cli, "SMTP server, as HOST or HOST:PORT", `smtp.${domain}`),
    caldav: await askLine(cli, "URL of CalDAV, for the calendar (Enter for none)", null).then((url) => url || null),
    carddav: await askLine(cli, "URL of CardDAV, for contacts (Enter for none)", null).then((url) => url || null),
  };
}
