import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

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
}
