import { connectSlack, openConnectionStore, type SlackAccount, slackScopes } from "@troupe/connectors";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { openSecrets } from "./ask-secret.ts";

export interface ConnectSlackFlags {
  name: string | null;
  /** For an app that rotates its tokens. */
  clientId: string | null;
  json: boolean;
}

const hint = "troupe connect slack < FILE   (the token on the first line)";

/** `troupe connect slack`: checks a token at Slack, and stores it in the home. */
export async function connectSlackAccount(cli: Cli, flags: ConnectSlackFlags): Promise<number> {
  explain(cli);
  const secrets = await openSecrets(cli, hint);
  const token = (await secrets.next("token")).trim();
  const account: SlackAccount = { token, name: flags.name, nowMs: cli.now() };
  if (flags.clientId !== null) {
    const refreshToken = (await secrets.next("refresh token")).trim();
    const clientSecret = (await secrets.next("client secret")).trim();
    account.rotation = { refreshToken, clientId: flags.clientId, clientSecret };
  }
  if (cli.env.TROUPE_SLACK_URL) account.apiUrl = cli.env.TROUPE_SLACK_URL;
  try {
    const { connection, team, user, missingScopes } = await connectSlack(openConnectionStore(cli.home.path), account);
    const { out, err } = cli.terminal;
    for (const scope of missingScopes) err.line(`${err.colours.yellow("missing scope:")} ${cleanLine(scope)}`);
    if (flags.json) out.line(jsonLine({ id: connection.id, account: connection.account, team, user, missingScopes }));
    else
      out.line(
        `${out.colours.green("connected")}  ${cleanLine(connection.id)}  ${cleanLine(user)} of ${cleanLine(team)}`,
      );
    return 0;
  } catch (thrown) {
    throw connectionFailure(thrown);
  }
}

function explain({ terminal: { err }, keyboard }: Cli): void {
  if (!keyboard.isTerminal) return;
  err.line("troupe uses a token of an app of your workspace. Make the app, once:");
  err.line("  1. Open https://api.slack.com/apps and create an app from scratch.");
  err.line(`  2. In OAuth & Permissions, add these scopes for a bot: ${slackScopes.bot.join(", ")}.`);
  err.line(`     Or for yourself, with Slack's search: ${slackScopes.user.join(", ")}.`);
  err.line("  3. Install the app, copy its token (xoxb-… or xoxp-…), and invite a bot to its channels.");
}
