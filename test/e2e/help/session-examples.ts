import { rm } from "node:fs/promises";
import path from "node:path";
import type { ExampleCase, ExampleCases } from "./example-case.ts";
import type { Shop } from "./shop.ts";

/** The sessions that the examples name. A caller may choose the id of a session. */
const first = "0199c2a4-0000-7000-8000-000000000001";
const second = "0199c2b7-0000-7000-8000-000000000002";

const withFirst = async (shop: Shop): Promise<undefined> => {
  await shop.settled(first);
};

let others = 0;
/** A settled session with an id of its own, in the place of the one in the example. */
const withOther = async (shop: Shop) => {
  others += 1;
  const id = `0199${String(others).padStart(4, "0")}-0000-7000-8000-000000000003`;
  return { words: { "0199c2a4": (await shop.settled(id)).slice(0, 18) } };
};

const withWaiting = async (shop: Shop) => ({ words: { "0199c2a4": (await shop.waiting()).session } });
const withApproval = async (shop: Shop) => ({ words: { "0199c2a4": (await shop.waiting()).approval } });

const withRule = async (shop: Shop) => {
  const { approval } = await shop.waiting();
  await shop.run(["approvals", "approve", approval, "--always"]);
  const { stdout } = await shop.run(["rules", "ls", "--json"]);
  const [rule] = JSON.parse(stdout) as { id: string }[];
  return { words: { "0199c2a4": rule?.id ?? "no rule" } };
};

const control: Omit<ExampleCase, "shows"> = { prepare: withWaiting };

export const sessionExamples: ExampleCases = {
  'troupe run "which licences do our dependencies have?"': { shows: /^All of them have the MIT licence\.$/m },
  'troupe spawn coder "add a test for the parser" --max-cost 0.50': { shows: /^[0-9a-f-]{36}$/m },
  'troupe plan "sign the tokens with RS256" --out tokens.yaml': {
    prepare: async ({ folder }) => void (await rm(path.join(folder, "tokens.yaml"), { force: true })),
    shows: /look.*Look/s,
  },
  "troupe plan run plan.yaml": { shows: /Tokens are made in auth\.js\./ },
  "troupe demo": {
    // Without the policy of the shop, which asks before each command.
    prepare: async (shop) => ({ env: { TROUPE_HOME: await shop.newFolder("demo") } }),
    shows: /✓ completed/,
    atOnce: true,
  },
  "troupe sessions show last": { prepare: withFirst, shows: /^status +\S+ \w+/m },
  "troupe sessions ls --limit 50": {
    prepare: withFirst,
    shows: /^0199c2a4\S* +✓ completed +main +find the flaky test/m,
  },
  "troupe sessions show 0199c2a4 --tree": { prepare: withFirst, shows: /researcher.*Why does the test wait\?/ },
  "troupe sessions replay 0199c2a4": { prepare: withFirst, shows: /^same: 2 runs/m },
  "troupe sessions export 0199c2a4 --format html --out session.html": {
    prepare: async (shop) => {
      await rm(path.join(shop.folder, "session.html"), { force: true });
      return await withFirst(shop);
    },
    shows: /^wrote .*session\.html$/m,
  },
  "troupe sessions import session.jsonl": {
    prepare: async (shop) => {
      await withFirst(shop);
      await shop.run(["sessions", "export", first, "--out", "session.jsonl", "--force"]);
      return { env: { TROUPE_HOME: await shop.newFolder("imported") } };
    },
    shows: new RegExp(`imported session ${first}`),
  },
  'troupe sessions fork 0199c2a4 --at 0199c2a4/2 --task "Use the other library"': {
    prepare: withFirst,
    shows: new RegExp(`forked session \\S+ from ${first}`),
  },
  "troupe sessions diff 0199c2a4 0199c2b7": {
    prepare: async (shop) => {
      await withFirst(shop);
      await shop.settled(second);
      return undefined;
    },
    shows: /have the same 2 runs/,
  },
  "troupe sessions rm 0199c2a4 --yes": { prepare: withOther, shows: /^removed 0199/m },
  "troupe sessions files 0199c2a4": {
    prepare: async (shop) => {
      await withFirst(shop);
      await shop.run(["sessions", "upload", first, "report.html"]);
      return undefined;
    },
    shows: /report\.html/,
  },
  "troupe sessions upload 0199c2a4 logo.png images/logo.png": { prepare: withFirst, shows: /images\/logo\.png/ },
  "troupe sessions download 0199c2a4 report.html": {
    prepare: async (shop) => {
      await withFirst(shop);
      await shop.run(["sessions", "upload", first, path.join(shop.folder, "pages/report.html"), "report.html"]);
      await rm(path.join(shop.folder, "report.html"), { force: true });
      return undefined;
    },
    shows: /downloaded report\.html/,
  },
  'troupe search "flaky test" --since 7d': { prepare: withFirst, shows: /^main +completed, .* ago\n.*flaky test/m },
  "troupe costs --by day --since 7d": { prepare: withFirst, shows: /^\d{4}-\d\d-\d\d +\d+ .*\$\d/m },
  "troupe stats --since 7d": { prepare: withFirst, shows: /^SLOWEST BRANCHES.*\nmain › researcher/m },
  "troupe explain 0199c2a4 shell": { prepare: withFirst, shows: /^tool +shell +✓ yes/m },
  "troupe ps": {
    prepare: async (shop) => {
      await shop.waiting();
      return undefined;
    },
    shows: /^daemon +pid \d+ .*asks to run shell/ms,
  },
  "troupe logs --level warn": {
    // The log names the file of the project that is not trusted.
    prepare: async ({ run }) => void (await run(["run", "which licences?"])),
    shows: /warn +this project has \.troupe\/config\.yaml: ignored/,
  },
  "troupe approvals ls": {
    prepare: async (shop) => {
      await shop.waiting();
      return undefined;
    },
    shows: /git status --short/,
  },
  "troupe approvals show 0199c2a4": { prepare: withApproval, shows: /git status --short/ },
  "troupe approvals watch": {
    prepare: async (shop) => {
      await shop.waiting();
      return undefined;
    },
    shows: /asks to run shell/,
    endsAfter: /asks to run shell/,
  },
  "troupe approvals approve 0199c2a4 --always": { prepare: withApproval, shows: /^approved shell of main/m },
  "troupe approvals approve 0199c2a4 --always --commands 'git status:*'": {
    prepare: withApproval,
    shows: /^approved shell of main/m,
  },
  'troupe approvals deny 0199c2a4 --reason "use the staging server"': { prepare: withApproval, shows: /denied/ },
  "troupe cancel 0199c2a4": { ...control, shows: /cancel/ },
  'troupe steer 0199c2a4 "skip the tests for now"': { ...control, shows: /^steering /m },
  "troupe pause 0199c2a4": { ...control, shows: /paus/ },
  "troupe resume 0199c2a4": {
    prepare: async (shop) => {
      const { session } = await shop.waiting();
      await shop.run(["pause", session]);
      return { words: { "0199c2a4": session } };
    },
    shows: /resum|continue/,
  },
  "troupe undo 0199c2a4 --dry-run": { prepare: withOther, shows: /src\/parser\.js +delete/ },
  "troupe undo 0199c2a4 --step 3 --path src": {
    prepare: withOther,
    shows: /undone: 0 restored, 1 deleted, 0 left/,
    types: { at: /change this file\? \[y\/N\]/, key: "y" },
    jsonCode: 8,
  },
  "troupe rules ls": { prepare: withRule, shows: /shell/ },
  "troupe rules rm 0199c2a4": { prepare: withRule, shows: /removed/ },
};
