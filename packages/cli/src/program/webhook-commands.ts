import { type Command, Option } from "commander";
import { example, idHelp, type JsonFlag, jsonArrayHelp, jsonHelp, type RunCommand } from "./shared-options.ts";

const webhooksHelp = `
Events: session.settled, approval.requested. Messages are signed as Standard Webhooks says, in
the headers webhook-id, webhook-timestamp and webhook-signature. A message without an answer of
2xx is repeated for about a day, and after a restart of the daemon, with the same id. Then it is
given up: \`ls\` counts it as dead, and \`resend\` sends it again.
Addresses of this machine are allowed. Other private addresses need web.privateHosts in
policy.yaml. Webhooks can also be set in the configuration: troupe config init.

Examples:
  $ troupe webhooks add https://example.org/hook --events session.settled
  $ troupe webhooks ls`;

/** The commands about webhooks. */
export function addWebhookCommands(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/webhooks.ts");
  const webhooks = program
    .command("webhooks")
    .description("tell other programs when sessions settle and approvals are requested")
    .addHelpText("after", webhooksHelp);
  webhooks
    .command("ls")
    .description("list the webhooks and the state of their messages")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe webhooks ls"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).listWebhooks(cli, { json: !!flags.json })),
    );
  webhooks
    .command("add")
    .description("add a webhook and print its secret, once; needs a running daemon")
    .argument("<url>", "address of the receiver")
    .addOption(
      new Option("--events <names>", "events, with commas between them").default("session.settled,approval.requested"),
    )
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe webhooks add https://example.org/hook"))
    .action((url: string, { events, json }: JsonFlag & { events: string }) =>
      runCommand(async (cli) => (await commands()).addWebhook(cli, url, { events, json: !!json })),
    );
  webhooks
    .command("rm")
    .description("remove a webhook and its messages; needs a running daemon")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe webhooks rm 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).removeWebhook(cli, id, { json: !!flags.json })),
    );
  webhooks
    .command("test")
    .description("send one test message now, and say what the receiver answers; needs a running daemon")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe webhooks test 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).testWebhook(cli, id, { json: !!flags.json })),
    );
  webhooks
    .command("resend")
    .description("send the messages that were given up again, with the same ids; needs a running daemon")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe webhooks resend 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).resendWebhook(cli, id, { json: !!flags.json })),
    );
}
