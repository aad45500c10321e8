import { resolve } from "node:path";
import {
  type ConnectedGoogle,
  connectGoogle,
  type GoogleClient,
  googleClientSteps,
  googleScopes,
  openConnectionStore,
  readGoogleClient,
} from "@troupe/connectors";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { mayOpenPage } from "../terminal/open-page.ts";

export interface ConnectGoogleFlags {
  account: string | null;
  client: string | null;
  port: number;
  opensBrowser: boolean;
  json: boolean;
}

/** `troupe connect google`: the user allows the access in a browser, and the home stores the tokens. */
export async function connectGoogleAccount(cli: Cli, flags: ConnectGoogleFlags): Promise<number> {
  try {
    const client = await readClient(cli, flags);
    const connected = await connectGoogle({
      store: openConnectionStore(cli.home.path),
      client,
      name: flags.account,
      port: flags.port,
      baseUrl: cli.env.TROUPE_GOOGLE_URL || null,
      signal: cli.interrupts.signal,
      showUrl: (url) => showUrl(cli, flags, url),
    });
    report(cli, flags, connected);
    return 0;
  } catch (thrown) {
    throw connectionFailure(thrown);
  }
}

async function readClient(cli: Cli, flags: ConnectGoogleFlags): Promise<GoogleClient> {
  const { err } = cli.terminal;
  try {
    return await readGoogleClient({
      env: cli.env,
      file: flags.client === null ? null : resolve(cli.cwd, flags.client),
    });
  } catch (thrown) {
    err.line("troupe uses an OAuth client of your own Google project. Make one, once:");
    for (const [i, step] of googleClientSteps.entries()) err.line(`  ${i + 1}. ${step}`);
    throw thrown;
  }
}

async function showUrl(cli: Cli, flags: ConnectGoogleFlags, url: string): Promise<void> {
  const { out, err } = cli.terminal;
  err.line(err.colours.bold("troupe asks Google for these permissions:"));
  for (const { allows, domain } of googleScopes) err.line(`  ${err.colours.dim(`${domain ?? "account"}:`)} ${allows}`);
  err.line(`Open this URL, sign in, and allow what troupe may use:\n\n${err.colours.cyan(url)}\n`);
  const isWanted = flags.opensBrowser && mayOpenPage({ env: cli.env, isTerminal: out.isTerminal });
  if (isWanted && !(await cli.openPage(url))) err.line("no browser could be started: open the URL above");
  err.line(err.colours.dim("waiting for the browser; Ctrl-C stops"));
}

function report(cli: Cli, { json }: ConnectGoogleFlags, { connection, missing }: ConnectedGoogle): void {
  const { out, err } = cli.terminal;
  const { id, account, domains } = connection;
  const notAllowed = missing.map(({ allows }) => allows);
  for (const allows of notAllowed) err.line(`${err.colours.yellow("not allowed:")} ${allows}`);
  if (json) out.line(jsonLine({ id, account, domains, notAllowed }));
  else out.line(`${out.colours.green("connected")}  ${cleanLine(id)}  ${cleanLine(account)}  ${domains.join(", ")}`);
}
