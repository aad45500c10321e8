import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "vitest";
import { type CliOptions, type CliResult, troupe } from "../../harness/cli.ts";
import { type InProcessCommand, startInProcess } from "../../harness/cli-in-process.ts";
import { type InProcessDaemon, startDaemonInProcess } from "../../harness/daemon.ts";
import { startGoogleServer } from "../../harness/google-server/start-google-server.ts";
import { askBeforeShell, writePolicy } from "../../harness/home-files.ts";
import { startModelServer } from "../../harness/model-server/start-model-server.ts";
import { type NatsServer, startNatsServer } from "../../harness/nats-server.ts";
import { delegate, shell } from "../../harness/scripted-calls.ts";
import { questionsOf, responseOf } from "../../harness/session-queries.ts";
import { sampleWorkspace } from "../../harness/slack-server/sample-workspace.ts";
import { startSlackServer } from "../../harness/slack-server/start-slack-server.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { until } from "../../harness/until.ts";
import { startWebhookReceiver } from "../../harness/webhook-receiver.ts";

/** A user with a project, a home, a daemon and the accounts that the examples name. */
export interface Shop {
  /** The project, and the current folder of the examples. */
  folder: string;
  /** The home of the daemon. */
  home: string;
  env: Record<string, string>;
  daemon: InProcessDaemon;
  hookUrl: string;
  google: Awaited<ReturnType<typeof startGoogleServer>>;
  /** Runs a command to its end. */
  run(args: string[], options?: Partial<CliOptions>): Promise<CliResult>;
  /** Starts a command that a signal ends. */
  start(args: string[], options?: Partial<CliOptions>): InProcessCommand;
  /** Starts a command, and resolves when it has printed this. It is stopped at the end of the test file. */
  startInBackground(args: string[], options: Partial<CliOptions> & { shows: RegExp }): Promise<void>;
  /** A folder below that of the test. A name without a number is the same folder each time. */
  folderOf(name: string): Promise<string>;
  /** An empty folder. */
  newFolder(name: string): Promise<string>;
  /** The same result each time for the same name. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Runs at the end of the test file, the last one first. */
  atEnd: TestContext["onTestFinished"];
  /** A settled session with file changes, in a folder of its own; the same one for the same id. */
  settled(id: string): Promise<string>;
  /** A session that waits for an approval of `git status`. Returns the ids of both. */
  waiting(): Promise<{ session: string; approval: string }>;
  /** A NATS server, started at the first call. */
  nats(): Promise<NatsServer>;
}

export const key = "sk-ant-api03-right0123456789";

const step = { id: "look", title: "Look", task: "name the files", agent: "researcher", after: [] };
const plan = { steps: [{ ...step, successCriteria: "named", review: false }] };

/** The script of the agents of the examples. */
export const shopScenario = {
  agents: {
    main: [
      { when: { task: "Call the tool" }, steps: [{ calls: [{ tool: "probe", args: { word: "ready" } }] }] },
      { when: { task: "permission" }, steps: [{ calls: [shell("git status --short")] }, { text: "It was allowed." }] },
      { when: { task: "sign the tokens" }, steps: [{ text: JSON.stringify(plan) }] },
      { when: { task: "licences" }, steps: [{ text: "All of them have the MIT licence." }] },
      {
        when: { task: "flaky" },
        steps: [
          { text: "First I read it.", calls: [{ tool: "read", args: { path: "notes.md" } }] },
          { calls: [delegate("researcher", "Why does the test wait?")] },
          // Two sessions differ in the duration of their delegation, which the conversation has from here on.
          {
            calls: [{ tool: "write", args: { path: "src/parser.js", content: "export const parse = 1;\n" } }],
            usage: { inputTokens: 300 },
          },
          { text: "The flaky test waits for a fixed time.", usage: { inputTokens: 340 } },
        ],
      },
      { steps: [{ text: "ready" }] },
    ],
    researcher: [{ steps: [{ text: "Tokens are made in auth.js." }] }],
  },
};

export async function openShop(test: Pick<TestContext, "onTestFinished">): Promise<Shop> {
  const root = await tempFolder("help", test);
  const folderOf = async (name: string): Promise<string> => {
    const folder = path.join(root, name);
    await mkdir(folder, { recursive: true });
    return folder;
  };
  // A server of mail runs as another user, in a folder below.
  await chmod(root, 0o711);
  const [home, user] = [await folderOf("home"), await folderOf("user")];
  const folder = await folderOf("user/projects/shop");
  await writeProject(folder);
  await writePolicy(home, askBeforeShell);
  const env = { ...(await startServers(test)), HOME: user, USER: "ada", TROUPE_HOME: home };
  const daemon = await startDaemonInProcess({ home, env, test, flags: ["--allow-home"] });
  const { url: hookUrl } = await startWebhookReceiver(test);
  const google = await startGoogleServer();
  test.onTestFinished(() => google[Symbol.asyncDispose]());
  Object.assign(env, { TROUPE_GOOGLE_URL: google.url });
  const { id, secret } = google.oauth.client;
  const client = { installed: { client_id: id, client_secret: secret, redirect_uris: ["http://localhost"] } };
  await writeFile(path.join(folder, "client_secret.json"), JSON.stringify(client));
  const made = new Map<string, Promise<unknown>>();
  let folders = 0;
  const full = (options: Partial<CliOptions>): CliOptions => ({
    ...{ home, cwd: folder, ...options },
    env: { ...env, ...options.env },
  });
  const shop: Shop = {
    ...{ folder, home, env, daemon, hookUrl, google, folderOf },
    run: (args, options = {}) => troupe(args, full(options)),
    start: (args, options = {}) => startInProcess(args, full(options)),
    async startInBackground(args, { shows, ...options }) {
      const command = shop.start(args, options);
      shop.atEnd(async () => {
        command.send("SIGINT");
        await command.ended;
      });
      await until(() => shows.test(command.stdout() + command.stderr()));
    },
    newFolder: (name) => {
      folders += 1;
      return folderOf(`${name}-${folders}`);
    },
    once<T>(name: string, make: () => Promise<T>) {
      const known = (made.get(name) as Promise<T> | undefined) ?? make();
      made.set(name, known);
      return known;
    },
    atEnd: (step) => test.onTestFinished(step),
    settled: (id) =>
      shop.once(id, async () => {
        const workspace = await shop.newFolder("work");
        await writeFile(path.join(workspace, "notes.md"), "The test sleeps.\n");
        await daemon.client.submit({ session: id, task: "find the flaky test", workspace, origin: "api" });
        // The policy asks before each call of medium risk, also before the write.
        await daemon.client.answer(await approvalOf(daemon, id), { approved: true, by: "ada" });
        await responseOf(daemon, id);
        return id;
      }),
    async waiting() {
      // A stored rule would answer in place of a person.
      for (const { id } of await daemon.client.rules()) await daemon.client.removeRule(id);
      const workspace = await folderOf("waiting");
      const { session } = await daemon.client.submit({ task: "ask for permission", workspace, origin: "api" });
      return { session, approval: await approvalOf(daemon, session) };
    },
    nats: () =>
      shop.once("nats", async () => {
        const server = await startNatsServer();
        shop.atEnd(server.stop);
        return server;
      }),
  };
  return shop;
}

async function approvalOf(daemon: InProcessDaemon, session: string): Promise<string> {
  const [row] = await questionsOf(daemon, session, 1);
  return row?.id ?? "no approval";
}

/** The servers of the vendors, and the variables that name them. */
async function startServers(test: Pick<TestContext, "onTestFinished">): Promise<Record<string, string>> {
  const models = await startModelServer({ scenario: shopScenario, apiKey: key });
  test.onTestFinished(() => models.close());
  const slack = await startSlackServer(sampleWorkspace());
  test.onTestFinished(() => slack.close());
  return {
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: models.anthropicUrl,
    TROUPE_SLACK_URL: slack.apiUrl,
    // No server of this machine takes part.
    OLLAMA_HOST: "http://127.0.0.1:9",
  };
}

const files: Readonly<Record<string, string>> = {
  "notes.md": "The test sleeps.\n",
  "logo.png": "a picture",
  "report.html": "<p>All is well.</p>\n",
  ".troupe/config.yaml": "model: anthropic/claude-sonnet-5\n",
  "appsettings.json": JSON.stringify({
    AgentRoles: { Roles: [{ RoleId: "main", SystemPromptFile: "prompts/main.md" }] },
  }),
  "prompts/main.md": "You answer.\n",
  "pages/report.html": "<p>All is well.</p>\n",
  "plan.yaml": [
    "goal: sign the tokens with RS256",
    "steps:",
    "  - {id: look, title: Look, task: name the files, agent: researcher, successCriteria: named, review: false}",
    "",
  ].join("\n"),
};

async function writeProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}
