import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { openConnectionStore } from "@troupe/connectors";
import { connectAccount } from "../../harness/google-server/connect-account.ts";
import { writeOfficeFiles } from "../../harness/office-files.ts";
import { userToken } from "../../harness/slack-server/sample-workspace.ts";
import type { ExampleCases } from "./example-case.ts";
import { startMailServers } from "./mail-servers.ts";
import type { Shop } from "./shop.ts";

/** A user without a configuration. */
const newUser = async (shop: Shop) => ({ env: { HOME: await shop.newFolder("user") } });

const withoutAgent = async ({ folder }: Shop): Promise<undefined> => {
  await rm(path.join(folder, ".troupe/agents"), { recursive: true, force: true });
};

const archivist = async (shop: Shop): Promise<undefined> => {
  await withoutAgent(shop);
  await shop.run(["agents", "new", "archivist"]);
};

const withoutTeam =
  (name: string) =>
  async ({ folder }: Shop): Promise<undefined> => {
    await rm(path.join(folder, ".troupe/teams", name), { recursive: true, force: true });
  };

const googleAccount = async (shop: Shop): Promise<undefined> => {
  const me = { name: "Kim", address: "kim@acme.example" };
  await connectAccount(shop.google, openConnectionStore(shop.home), me);
};

const google = {
  prepare: async ({ google: { oauth } }: Shop) => ({
    env: { TROUPE_GOOGLE_CLIENT_ID: oauth.client.id, TROUPE_GOOGLE_CLIENT_SECRET: oauth.client.secret },
  }),
  opens: /http:\/\/127\.0\.0\.1:\d+\/o\/oauth2\/v2\/auth\S+/,
  shows: /^connected +google\//m,
};

const officeHome = async (shop: Shop) => ({ env: { TROUPE_HOME: await shop.newFolder("office") } });
const seeded = async (shop: Shop) => {
  const { env } = await officeHome(shop);
  await shop.run(["office", "seed"], { env });
  return { env };
};

export const setupExamples: ExampleCases = {
  "troupe setup --yes": { prepare: newUser, shows: /with model: anthropic\/claude-sonnet-5/ },
  "troupe doctor --fix": { shows: /^✓ ok +journal /m },
  "troupe config list --show-origin": { shows: /^model +anthropic\/claude-sonnet-5 +default/m },
  "troupe config get model": { shows: /^anthropic\/claude-sonnet-5$/m },
  "troupe config path": { shows: /\/\.config\/troupe\/config\.yaml$/m },
  "troupe config init": { prepare: newUser, shows: /\/\.config\/troupe\/config\.yaml$/m },
  "troupe models ls": { shows: /^default +anthropic\/claude-sonnet-5/m },
  "troupe models test": { shows: /✓ ok +tools: it called probe/ },
  "troupe models test anthropic/claude-sonnet-5": { shows: /✓ ok +tools: it called probe/ },
  "troupe agents ls": { shows: /^coder /m },
  "troupe agents show main": { shows: /^agent +main$/m },
  "troupe agents stats --since 30d": {
    prepare: async ({ run }) => void (await run(["run", "which licences?"])),
    shows: /^main +any +\d+ .*%/m,
  },
  "troupe agents validate": { prepare: archivist, shows: /✓ valid: 1 usable agent/ },
  'troupe agents new archivist --description "Files finished documents"': {
    prepare: withoutAgent,
    shows: /^wrote .*archivist\.md$/m,
  },
  "troupe agents set archivist model haiku": { prepare: archivist, shows: /^changed .*archivist\.md$/m },
  "troupe agents enable archivist": { prepare: archivist, shows: /archivist\.md has it already/ },
  "troupe agents disable archivist": { prepare: archivist, shows: /^changed .*archivist\.md$/m },
  "troupe teams ls": { shows: /^coding /m },
  "troupe teams show coding": { shows: /^coding\/reviewer /m },
  "troupe teams use coding": { prepare: newUser, shows: /^the default team is coding/m },
  "troupe teams new report": { prepare: withoutTeam("report"), shows: /teams\/report/ },
  "troupe teams import appsettings.json --name my-team": { prepare: withoutTeam("my-team"), shows: /teams\/my-team/ },
  "troupe teams validate": { shows: /✓ valid: / },
  "troupe trust ~/projects/shop": {
    shows: /trusted: /,
    types: { at: /trust all of it as it is now\? \[y\/N\]/, key: "y" },
  },
  "troupe trust ls": { prepare: trusted, shows: /projects\/shop +trusted/ },
  "troupe trust rm ~/projects/shop": { prepare: trusted, shows: /no longer trusted/ },
  "troupe connect google": google,
  "troupe connect google --client client_secret.json": { ...google, prepare: async () => undefined },
  "troupe connect slack < token.txt": {
    prepare: async ({ folder }) => void (await writeFile(path.join(folder, "token.txt"), `${userToken}\n`)),
    shows: /^connected +slack\/Acme/m,
  },
  "troupe connect mail me@acme.example --imap imap.acme.example --smtp smtp.acme.example:587": {
    prepare: startMailServers,
    shows: /^connected +\S+/m,
    ownProcess: true,
  },
  "troupe connections ls": { prepare: googleAccount, shows: /google\/kim@acme\.example/ },
  "troupe connections test google/kim@acme.example": {
    prepare: googleAccount,
    shows: /email +kim@acme\.example: reads and changes/,
  },
  "troupe connections rm google/kim@acme.example": { prepare: googleAccount, shows: /google\/kim@acme\.example/ },
  "troupe office seed": { prepare: officeHome, shows: /24 messages, 12 events/ },
  "troupe office import archive.mbox calendar.ics contacts.vcf": {
    prepare: async (shop) => {
      await writeOfficeFiles(shop.folder);
      return await officeHome(shop);
    },
    shows: /archive\.mbox.*1 message.*calendar\.ics/s,
  },
  "troupe office status": { prepare: seeded, shows: /^content +24 messages/m },
  "troupe office reset --yes": { prepare: seeded, shows: /^deleted the office/m },
  "troupe inspect machine": { shows: /^stateDiagram/m },
  "troupe inspect machine agent": { shows: /^stateDiagram/m },
  "troupe completion bash": { shows: /complete -F _troupe troupe/ },
};

async function trusted(shop: Shop): Promise<undefined> {
  await shop.run(["trust", "--yes"]);
}
