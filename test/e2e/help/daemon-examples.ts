import { rm } from "node:fs/promises";
import path from "node:path";
import { startDaemon } from "../../harness/daemon.ts";
import { freePort } from "../../harness/free-port.ts";
import type { ExampleCase, ExampleCases } from "./example-case.ts";
import type { Shop } from "./shop.ts";

const emptyHome = (shop: Shop) => shop.newFolder("empty");

/** The home without a daemon, on the NATS server, with one finished session. */
async function natsHome(shop: Shop): Promise<{ TROUPE_HOME: string; NATS_URL: string }> {
  const env = { TROUPE_HOME: await shop.folderOf("nats"), NATS_URL: (await shop.nats()).url };
  const { stdout } = await shop.run(["sessions", "ls", "--json"], { env });
  if (stdout.trim() === "[]") await shop.run(["run", "hello", "--nats", env.NATS_URL], { env });
  return env;
}

const onNats: Omit<ExampleCase, "shows"> = {
  prepare: async (shop) => ({
    env: await natsHome(shop),
    words: { "nats://host:4222": (await shop.nats()).url },
  }),
};

const withoutWebhooks = async ({ run }: Shop): Promise<undefined> => {
  const { stdout } = await run(["webhooks", "ls", "--json"]);
  for (const { id } of JSON.parse(stdout) as { id: string }[]) await run(["webhooks", "rm", id]);
};

const webhook = async (shop: Shop) => {
  await withoutWebhooks(shop);
  const { stdout } = await shop.run(["webhooks", "add", shop.hookUrl, "--json"]);
  const { id } = (JSON.parse(stdout) as { webhook: { id: string } }).webhook;
  return { words: { "0199c2a4": id } };
};

/** A backup of the shop. The example of `troupe backup` writes another one in its place. */
const backup = ({ once, run }: Shop) => once("backup", () => run(["backup", "troupe.backup", "--force"]));

/** A home without a daemon that has the sessions of the shop. */
const restored = (shop: Shop) =>
  shop.once("restored", async () => {
    await backup(shop);
    const env = { TROUPE_HOME: await emptyHome(shop) };
    await shop.run(["restore", "troupe.backup"], { env });
    return { env };
  });

export const daemonExamples: ExampleCases = {
  "troupe up --port 4711": {
    prepare: async (shop) => ({
      words: { "4711": String(await freePort()) },
      env: { TROUPE_HOME: await emptyHome(shop) },
    }),
    shows: /^ready +http:/m,
    endsAfter: /ready.*\n/,
  },
  "troupe down": {
    prepare: async (shop) => {
      const env = { TROUPE_HOME: await emptyHome(shop) };
      // The command sends a signal to the process of the daemon.
      const { home } = shop;
      await startDaemon({ home, env: { ...shop.env, ...env }, test: { onTestFinished: shop.atEnd } });
      return { env };
    },
    shows: /^stopped/m,
  },
  "troupe worker --agents coder,tester --nats nats://host:4222": {
    ...onNats,
    shows: /^ready +worker-.*agents: coder, tester/ms,
    endsAfter: /^ready.*\n/m,
  },
  "troupe hosts ls": { shows: /^daemon-\S+ +daemon +● alive/m },
  "troupe hosts drain worker-gpu-1": {
    prepare: async (shop) => {
      const env = await natsHome(shop);
      const name = ["--name", "worker-gpu-1", "--nats", env.NATS_URL];
      const worker = { TROUPE_HOME: await emptyHome(shop) };
      await shop.startInBackground(["worker", "--agents", "coder", ...name], { env: worker, shows: /coder/ });
      return { env };
    },
    shows: /asked worker-gpu-1 to drain/,
  },
  "troupe nats check": { ...onNats, shows: /^recorder .*up to date/m },
  "troupe nats check --nats nats://host:4222": { ...onNats, shows: /^recorder .*up to date/m },
  "troupe nats purge --older-than 30 --dry-run": { ...onNats, shows: /would delete 0 sessions/ },
  "troupe nats restore --nats nats://host:4222": {
    prepare: async (shop) => {
      const env = await natsHome(shop);
      const server = await shop.nats();
      await server.wipe();
      return { env, words: { "nats://host:4222": server.url } };
    },
    shows: /^restored: \d+ items of 1 session/m,
  },
  "troupe backup troupe.backup": {
    prepare: async ({ folder }) => void (await rm(path.join(folder, "troupe.backup"), { force: true })),
    shows: /^saved \d+ sessions .*troupe\.backup$/m,
  },
  "troupe restore troupe.backup": {
    prepare: async (shop) => {
      await backup(shop);
      return { env: { TROUPE_HOME: await emptyHome(shop) } };
    },
    shows: /^restored \d+ sessions/m,
  },
  "troupe record verify": { prepare: restored, shows: /^everything is intact: \d+ sessions/m },
  "troupe record rebuild": { prepare: restored, shows: /^rebuilt the record: \d+ sessions/m },
  "troupe webhooks add https://example.org/hook --events session.settled": {
    prepare: withoutWebhooks,
    shows: /whsec_/,
  },
  "troupe webhooks add https://example.org/hook": { prepare: withoutWebhooks, shows: /whsec_/ },
  "troupe webhooks ls": { prepare: webhook, shows: /^\S+ +0 +0 +0 .*\/hook$/m },
  "troupe webhooks rm 0199c2a4": { prepare: webhook, shows: /^removed/m },
  "troupe webhooks resend 0199c2a4": { prepare: webhook, shows: /^0 messages are sent again: troupe webhooks ls$/m },
  "troupe webhooks test 0199c2a4": { prepare: webhook, shows: /^delivered: the receiver answered 204$/m },
};
