/**
 * S9: gives a daemon fifty secrets in every possible way. Afterwards none is in its home, in its messages to a page or
 * in its output. The same run without redaction finds all of them, which proves that the search works.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "vitest";
import { type CliResult, troupe } from "../../harness/cli.ts";
import { cliPath } from "../../harness/cli-path.ts";
import { startDaemon, type TestDaemon } from "../../harness/daemon.ts";
import { startServer } from "../../harness/model-server/fixture.ts";
import { type Agents, writeScenario } from "../../harness/scenario-file.ts";
import { atGate, delegate, gate, openGate, shell } from "../../harness/scripted-calls.ts";
import { responseOf } from "../../harness/session-queries.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { until } from "../../harness/until.ts";
import { type Canary, createCanaries, traces } from "./canaries.ts";
import { type Leftover, leftoversOf } from "./leftovers.ts";

type Test = Pick<TestContext, "onTestFinished">;

const canaries = createCanaries();
const { known, plain, shaped } = canaries;

const anthropicKey = plain("the key of a provider");
const openaiKey = plain("the key that a provider echoes");
const database = plain("the password of an address in a variable");

/** Files of the workspace that the agents' tools read. */
const files = {
  "plain.txt": `the key is ${known("a file, as it is")} indeed\n`,
  "escaped.json": JSON.stringify({ inner: JSON.stringify({ key: known("a file, as JSON within JSON") }) }),
  "address.txt": `https://x.example/?key=${encodeURIComponent(known("a file, in an address"))}&y`,
  "form.txt": new URLSearchParams({ key: known("a file, as a form") }).toString(),
  "hex.txt": Buffer.from(known("a file, in hex")).toString("hex"),
  "upper.txt": Buffer.from(known("a file, in capital hex")).toString("hex").toUpperCase(),
  "base64.txt": Buffer.from(known("a file, in base64")).toString("base64"),
  "basic.txt": `Basic ${Buffer.from(`user:${known("a file, as the password of a user")}`).toString("base64")}`,
  "url64.txt": Buffer.from(`xy${known("a file, in base64 for addresses")}`).toString("base64url"),
  "to-encode.txt": plain("encoded by a command"),
  "pem.txt": shaped(
    "a private key",
    (random) =>
      `-----BEGIN PRIVATE KEY-----\n${random.slice(0, 60)}\n${random.slice(3, 40)}\n-----END PRIVATE KEY-----`,
  ),
  "failed.txt": `failed with ${plain("a command that fails")}`,
  // The border at which an output is cut lies within one of these.
  "big.txt": `${plain("an output that is cut")}, `.repeat(3_000),
  "sent.txt": `X-Auth: ${plain("a header in the configuration")}`,
  ".troupe/agents/helper.md": [
    "---",
    "name: helper",
    `description: Helps. ${plain("the description of an agent")}`,
    "tools: [read, shell]",
    "model: inherit",
    "---",
    "",
    `You help with ${known("the prompt of an agent")}.`,
  ].join("\n"),
};

const inText = known("the words of a model");
const inAnswer = known("the answer of a model");
const inShape = shaped("the words of a model, by their shape", (random) => `sk-ant-api03-${random.slice(0, 60)}`);
const github = shaped("arguments, by their shape", (random) => `ghp_${random.slice(0, 36)}`);
const google = shaped("a task, by its shape", (random) => `AIza${random.slice(0, 35)}`);
const slack = shaped("an error, by its shape", (random) => `xoxb-${random.slice(0, 30)}`);
const aws = shaped("a steering word, by its shape", () => "AKIAQ7YXK3ZM5NPR2TWD");
const jwt = shaped(
  "the output of a tool, by its shape",
  (random) => `eyJ${random.slice(0, 17)}.eyJ${random.slice(17, 50)}.${random.slice(20, 60)}`,
);
const header = files["sent.txt"].slice("X-Auth: ".length);
const userInfo = shaped("an address with a password", (random) => `pw-${random.slice(0, 12)}`);

const answers: Agents = {
  main: [
    {
      steps: [
        {
          thinking: `I know ${known("the thoughts of a model")}`,
          text: `first ${inText}, then ${inShape}, then https://bot:${userInfo}@git.example/x.git and so on`,
          deltas: { pieces: 60 },
          latencyMs: 60,
          calls: [
            { tool: "write", args: { path: "made.txt", content: `a ${known("arguments")} b ${github} c` } },
            { tool: "write", args: { path: `${plain("the name of a file that is made")}.txt`, content: "x" } },
            { tool: "read", args: { path: `${plain("the name of a file that there is not")}.txt` } },
            { tool: "write", args: { path: "x", content: "y", deep: [{ er: { [known("a name in arguments")]: 1 } }] } },
            { tool: plain("the name of a tool"), args: {} },
            shell("cat plain.txt escaped.json address.txt form.txt hex.txt upper.txt base64.txt basic.txt url64.txt"),
            shell("cat pem.txt sent.txt; base64 -w 20 to-encode.txt >&2; base64 to-encode.txt"),
            shell(`echo ${jwt}; tr '\\0' '\\n' < /proc/$PPID/environ; env`),
            shell("cat failed.txt >&2; exit 3"),
            shell("cat big.txt"),
          ],
        },
        { calls: [{ ...delegate("helper", `help with ${known("the task of a child")}`) }] },
        { calls: [shell(`echo deny-me ${plain("a call that is denied")}`), shell(`echo rule-me ${plain("a rule")}`)] },
        { text: `{{result.0.output}} and ${inAnswer}`, deltas: { pieces: 50 } },
      ],
    },
  ],
  helper: [{ steps: [{ calls: [shell("cat plain.txt")] }, { text: `helped: ${known("the answer of a child")}` }] }],
};

const failing: Agents = {
  main: [
    {
      steps: [
        { error: { type: "auth", message: `wrong: ${known("the error of a model")}, ${slack}`, recoverable: false } },
      ],
    },
  ],
};

const waiting: Agents = { main: [{ steps: [{ calls: [gate("here")] }, { text: "heard" }] }] };

/** Secrets that people and programs enter, by the place of the input. */
const entered = {
  task: known("a task"),
  context: known("piped input"),
  user: plain("the name of a user"),
  steer: known("a steering word"),
  steerer: plain("the sender of a message"),
  cancel: known("the reason of a cancel"),
  deny: known("the reason of a denial"),
  approver: plain("the person who answers"),
  path: plain("a path without a route"),
  body: plain("a body that does not fit"),
  log: plain("the address of a request that fails"),
  command: plain("arguments of the command line"),
};

/** One long text carries the remaining secrets. */
const rest: string[] = [];
while (canaries.all.length < 50) rest.push(known(`one of many, ${canaries.all.length}`));

interface Left {
  remains: Leftover[];
  /** Whether the daemon did all that it was asked for. */
  statuses: string[];
}

/** Tells a daemon everything, and stops it. */
async function tellAll(test: Test, entry = cliPath): Promise<Left> {
  const home = await tempFolder("secrets", test);
  const outside = await tempFolder("secrets-outside", test);
  const workspace = path.join(outside, "workspace");
  await mkdir(path.join(workspace, ".troupe/agents"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(workspace, name), text);
  // No sandbox, so that a command can read the daemon's environment and print it.
  await writeFile(path.join(home, "policy.yaml"), "risk: {medium: ask}\nsandbox: {mode: off}\n");

  const scenario = await writeScenario(outside, answers, "answers");
  const server = await startServer(test, { scenario: { agents: answers }, apiKey: anthropicKey });
  const echo = await startServer(test, {
    scenario: {
      agents: {
        main: [
          {
            steps: [{ text: "x", faults: [{ status: 401, message: `no such key: ${openaiKey}` }] }],
          },
        ],
      },
    },
  });
  const config = path.join(outside, "config.yaml");
  await writeFile(config, JSON.stringify({ providers: { openai: { headers: { "X-Team": "t", "X-Auth": header } } } }));
  const daemonEnv = {
    ...canaries.env(),
    TROUPE_LOG: "trace",
    TROUPE_CONFIG: config,
    TROUPE_MODEL: `scripted/${scenario}`,
    ANTHROPIC_API_KEY: anthropicKey,
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    OPENAI_API_KEY: openaiKey,
    OPENAI_BASE_URL: echo.openaiUrl,
    DATABASE_URL: `postgres://app:${database}@db.example/shop`,
  };
  // Held by other variables, some of them in a form of their own.
  for (const { variable, value } of canaries.all) {
    if (variable && [anthropicKey, openaiKey, database, header].includes(value)) delete daemonEnv[variable as never];
  }
  const daemon = await startDaemon({ home, test, env: daemonEnv, entry });
  if (!daemon.ready.url) throw new Error(`no daemon: ${JSON.stringify(daemon.ready)}`);
  const { client } = daemon;
  const page = listen(daemon);
  const stopAnswering = answerAll(daemon);
  const cliOptions = { home, env: canaries.env(), entry };
  const outputs: CliResult[] = [];

  const ask = (extra: Partial<Parameters<typeof client.submit>[0]>) =>
    client.submit({ task: "do it", workspace, origin: "api", timeoutMs: 60_000, ...extra });
  const long = `do ${entered.task} with ${google}; ${rest.join(", ")}`;
  const first = await ask({ task: long, context: `piped: ${entered.context}`, userId: entered.user });
  const settled = [await responseOf(daemon, first.session)];
  const overHttp = await ask({ model: "anthropic/claude-sonnet-4-5" });
  settled.push(await responseOf(daemon, overHttp.session));
  const refused = await ask({ model: "openai/gpt-5" });
  settled.push(await responseOf(daemon, refused.session));
  const failed = await ask({ scenario: await writeScenario(outside, failing, "failing") });
  settled.push(await responseOf(daemon, failed.session));

  const gated = await writeScenario(outside, waiting, "waiting");
  const steered = await ask({ scenario: gated });
  await atGate(workspace, "here");
  await client.steer(steered.run, `mind ${entered.steer} and ${aws}`, entered.steerer);
  await client.pause(steered.run, entered.steerer);
  await client.resume(steered.run, entered.steerer);
  await openGate(workspace, "here");
  settled.push(await responseOf(daemon, steered.session));
  const cancelled = await ask({
    scenario: await writeScenario(outside, { main: [{ steps: [{ calls: [gate("there")] }] }] }),
  });
  await atGate(workspace, "there");
  await client.cancel(cancelled.session, `no more ${entered.cancel}`);
  settled.push(await responseOf(daemon, cancelled.session));

  const answered = await Promise.all([
    fetchText(daemon, `/api/v1/${entered.path}`),
    fetchText(daemon, "/api/v1/sessions", {
      method: "POST",
      body: JSON.stringify({ task: 1, [entered.body]: entered.body }),
    }),
    fetchText(daemon, `/api/v1/agents?workspace=${encodeURIComponent(workspace)}`),
    fetchText(daemon, `/api/v1/runs/${first.run}/explain`),
    fetchText(daemon, "/api/v1/status"),
    fetchText(daemon, "/api/v1/approvals?state=all"),
    fetchText(daemon, "/api/v1/rules"),
    fetchText(daemon, `/api/v1/sessions/${first.session}`),
    fetchText(daemon, `/api/v1/runs/${first.run}/entries`),
    fetchText(daemon, `/api/v1/runs/${entered.log}`),
  ]);
  // The environment of these processes has the secrets. Without redaction, one shows that the search finds them.
  outputs.push(await troupe(["run", "x", "--agent", entered.command], cliOptions));
  if (entry === cliPath) {
    outputs.push(await troupe(["run", "x", "--workspace", `/${entered.command}`], cliOptions));
    outputs.push(await troupe(["sessions", "show", first.session], { home, env: canaries.env() }));
  }
  await stopAnswering();
  await daemon.stop();
  const printed = outputs.map(({ stdout, stderr }, i) => ({
    name: `command ${i}`,
    bytes: Buffer.from(stdout + stderr),
  }));
  const sent = await page();
  const remains = [
    ...(await leftoversOf(home)),
    ...printed,
    ...answered.map((text, i) => ({ name: `answer ${i}`, bytes: Buffer.from(text) })),
    { name: "text on the page", bytes: Buffer.from(sent) },
    { name: "streamed text", bytes: Buffer.from(deltasIn(sent)) },
    { name: "output of the daemon", bytes: Buffer.from(daemon.stderr()) },
    { name: "a file of a tool", bytes: await readFile(path.join(workspace, "made.txt")) },
  ];
  return { remains, statuses: settled.map(({ status }) => status) };
}

async function fetchText({ url, token }: TestDaemon, route: string, init: RequestInit = {}): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return await (await fetch(url + route, { ...init, headers })).text();
}

/** Records all bytes that a page receives. The returned function resolves when the daemon is gone. */
function listen({ url, token }: TestDaemon): () => Promise<string> {
  const events = fetch(`${url}/api/v1/events?after=0`, { headers: { authorization: `Bearer ${token}` } }).then(
    async ({ body }) => {
      let text = "";
      const decoder = new TextDecoder();
      try {
        for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true });
      } catch {
        // The daemon has ended it.
      }
      return text;
    },
  );
  return () => events;
}

/** Model output that the page received, joined per run. */
function deltasIn(sent: string): string {
  const textByRun = new Map<string, string>();
  for (const [, data = ""] of sent.matchAll(/^event: live\ndata: (.*)$/gm)) {
    const { kind, run, text } = JSON.parse(data) as Record<string, string>;
    if (kind === "text.delta" && run) textByRun.set(run, (textByRun.get(run) ?? "") + text);
  }
  return [...textByRun.values()].join("\n");
}

/** Lets everything happen but one call, and one for good. */
function answerAll({ client }: TestDaemon): () => Promise<void> {
  let stopped = false;
  const answering = until(async () => {
    const { approvals } = await client.approvals();
    for (const { id, args } of approvals) {
      const words = JSON.stringify(args);
      const isDenied = words.includes("deny-me");
      const scope = words.includes("rule-me") ? "rule" : "once";
      const answer = {
        approved: !isDenied,
        scope,
        reason: isDenied ? entered.deny : null,
        by: entered.approver,
      } as const;
      await client.answer(id, answer);
    }
    return stopped;
  });
  return async () => {
    stopped = true;
    await answering;
  };
}

/** The places in which each secret was found. */
function hits(wanted: readonly Canary[], { remains }: Left): Map<string, string[]> {
  const found = wanted.map(({ place, ...canary }) => {
    const forms = traces({ place, ...canary });
    const names = remains.filter(({ bytes }) => forms.some((form) => bytes.includes(form))).map(({ name }) => name);
    return [place, names] as const;
  });
  return new Map(found.filter(([, names]) => names.length > 0));
}

const ends = ["completed", "completed", "failed", "failed", "completed", "cancelled"];

test("of fifty secrets in a daemon's environment none is left anywhere", { timeout: 180_000 }, async (context) => {
  const { expect } = context;
  expect(canaries.all.length).toBeGreaterThanOrEqual(50);
  const left = await tellAll(context);
  expect(left.statuses).toEqual(ends);
  expect([...hits(canaries.all, left)]).toEqual([]);
  const marks = left.remains.flatMap(({ bytes }) => bytes.toString().match(/\[redacted: [^\]]*\]/g) ?? []);
  expect(marks.length).toBeGreaterThan(100);
});

test("without redaction all of them are found", { timeout: 180_000 }, async (context) => {
  const { expect } = context;
  const left = await tellAll(context, path.join(import.meta.dirname, "unredacted-main.ts"));
  expect(left.statuses).toEqual(ends);
  const found = hits(canaries.all, left);
  expect(found.get("the words of a model")).toContain("streamed text");
  expect(found.get("an output that is cut")?.some((name) => name.includes("blobs"))).toBe(true);
  expect(canaries.all.map(({ place }) => place).filter((place) => !found.has(place))).toEqual([]);
});
