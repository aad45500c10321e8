import type { Command } from "commander";
import { example, type JsonFlag, jsonArrayHelp, jsonHelp, type RunCommand } from "./shared-options.ts";

interface GoogleOptions extends JsonFlag {
  account?: string;
  client?: string;
  port?: string;
  browser: boolean;
}

/** `troupe connect …`: accounts of the user for mail, calendar, contacts and channels. */
export function addConnectCommands(program: Command, runCommand: RunCommand): void {
  const connect = program.command("connect").description("connect an account for mail, calendar, contacts or channels");
  connect
    .command("google")
    .description(
      "connect a Google account: Gmail, Google Calendar and contacts. You allow the access in a browser; the tokens stay in your home",
    )
    .option("--account <name>", "mail address of the account, or a name for it (default: its address)")
    .option(
      "--client <file>",
      "JSON file of your OAuth client (default: TROUPE_GOOGLE_CLIENT_ID and _SECRET, or _FILE)",
    )
    .option("--port <port>", "port of this machine to which the browser comes back (default: a free one)")
    .option("--no-browser", "print the URL without opening a browser")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe connect google --client client_secret.json"))
    .action(({ account, client, port, browser, json }: GoogleOptions) =>
      runCommand(async (cli) => {
        const [{ connectGoogleAccount }, { parsePort }] = await Promise.all([
          import("../commands/connect-google.ts"),
          import("./flags.ts"),
        ]);
        const flags = { account: account ?? null, client: client ?? null, opensBrowser: browser, json: !!json };
        return connectGoogleAccount(cli, { ...flags, port: port === undefined ? 0 : parsePort(port) });
      }),
    );
  addConnectSlack(connect, runCommand);
  addConnectMail(connect, runCommand);
}

interface SlackOptions extends JsonFlag {
  name?: string;
  clientId?: string;
}

function addConnectSlack(connect: Command, runCommand: RunCommand): void {
  connect
    .command("slack")
    .description(
      "connect a workspace of Slack with a token of your app, from a hidden prompt or standard input; it is tested, and stays in your home",
    )
    .option("--name <name>", "name of the connection (default: the name of the workspace)")
    .option("--client-id <id>", "the app rotates its tokens: also asks for the refresh token and the client secret")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe connect slack < token.txt"))
    .action(({ name, clientId, json }: SlackOptions) =>
      runCommand(async (cli) => {
        const { connectSlackAccount } = await import("../commands/connect-slack.ts");
        return connectSlackAccount(cli, { name: name ?? null, clientId: clientId ?? null, json: !!json });
      }),
    );
}

interface MailOptions extends JsonFlag {
  fullName?: string;
  name?: string;
  user?: string;
  imap?: string;
  smtp?: string;
  caldav?: string;
  carddav?: string;
  calendar?: string;
  timeZone?: string;
  allowPlain?: boolean;
}

function addConnectMail(connect: Command, runCommand: RunCommand): void {
  connect
    .command("mail")
    .argument("[address]", "your mail address")
    .description(
      "connect an account of any IMAP, SMTP, CalDAV and CardDAV servers; the password comes from a hidden prompt or standard input. Each server is tested first",
    )
    .option("--imap <server>", "IMAP server, as HOST, HOST:PORT or starttls://HOST:PORT (default: TLS at port 993)")
    .option("--smtp <server>", "SMTP server, in the same form (default: TLS at port 465)")
    .option("--caldav <url>", "URL of the CalDAV server, for the calendar")
    .option("--carddav <url>", "URL of the CardDAV server, for contacts")
    .option("--user <name>", "user of the servers (default: the address)")
    .option("--full-name <name>", "your name in outgoing mail")
    .option("--calendar <name>", "calendar for new events (default: the first one)")
    .option("--time-zone <zone>", "zone of the calendar, such as Europe/Berlin (default: the zone of this machine)")
    .option("--name <name>", "name of the connection (default: the address)")
    .option("--allow-plain", "allow plain:// and http:// servers, which receive the password without TLS")
    .option("--json", jsonHelp)
    .addHelpText(
      "after",
      example("troupe connect mail me@acme.example --imap imap.acme.example --smtp smtp.acme.example:587"),
    )
    .action((address: string | undefined, options: MailOptions) =>
      runCommand(async (cli) => {
        const { connectMailAccount } = await import("../commands/connect-mail.ts");
        const { imap = null, smtp = null, caldav = null, carddav = null, calendar = null, timeZone = null } = options;
        const { fullName = "", name = null, user = null, allowPlain = false, json } = options;
        const servers = { imap, smtp, caldav, carddav, calendar, timeZone, allowPlain };
        return connectMailAccount(cli, { address: address ?? null, fullName, name, user, ...servers, json: !!json });
      }),
    );
}

/** `troupe connections …`: the connected accounts of this home. */
export function addConnectionCommands(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/connections.ts");
  const connections = program.command("connections").description("list, test and remove the connected accounts");
  connections
    .command("ls")
    .description("list the connected accounts and the domains that use each; calls no service")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe connections ls"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).listConnections(cli, { json: !!flags.json })),
    );
  connections
    .command("test")
    .description("ask the services of an account whether its access is valid; exits with 4 if it is not")
    .argument("[id]", "a connection from troupe connections ls (default: all)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe connections test google/kim@acme.example"))
    .action((id: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).testConnections(cli, id ?? null, { json: !!flags.json })),
    );
  connections
    .command("rm")
    .description("forget an account and its secrets; Google is asked to end the access")
    .argument("<id>", "a connection from troupe connections ls")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe connections rm google/kim@acme.example"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).removeConnection(cli, id, { json: !!flags.json })),
    );
}
