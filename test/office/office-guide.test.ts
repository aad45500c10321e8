/** Every command of docs/guides/office.md, in its order, in an empty folder with an empty home. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { openConnectionStore } from "@troupe/connectors";
import { it } from "vitest";
import { type CliResult, startTroupe, troupe } from "../harness/cli.ts";
import { visit } from "../harness/google-server/connect-account.ts";
import { startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { writeOfficeFiles } from "../harness/office-files.ts";
import { openOfficeOf } from "../harness/office-home.ts";
import { sampleWorkspace, userToken } from "../harness/slack-server/sample-workspace.ts";
import { startSlackServer } from "../harness/slack-server/start-slack-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const guide = await readGuide("office");

it("the guide to the office works as it is written", { timeout: 300_000 }, async (test) => {
  const { expect } = test;
  const home = await tempFolder("office-guide", test);
  const work = await tempFolder("office-guide-work", test);
  await writeOfficeFiles(work);
  const [slack, google] = [await startSlackServer(sampleWorkspace()), await startGoogleServer()];
  test.onTestFinished(() => slack.close());
  test.onTestFinished(() => google[Symbol.asyncDispose]());
  const { id, secret } = google.oauth.client;
  const client = { installed: { client_id: id, client_secret: secret, redirect_uris: ["http://localhost"] } };
  await writeFile(path.join(work, "client_secret.json"), JSON.stringify(client));
  const env = { TROUPE_SLACK_URL: slack.apiUrl, TROUPE_GOOGLE_URL: google.url };
  const run = (words: string[]) => troupe(words, { home, cwd: work, env });

  const results = new Map<string, CliResult>();
  for (const line of commandsIn(guide).filter((each) => each.startsWith("troupe "))) {
    const result = await run(wordsOf(line).slice(1));
    results.set(line, result);
    const expected = line.includes("--no-input") ? 8 : 0;
    if (line !== "troupe doctor")
      expect([line, result.code, result.stderr]).toEqual([line, expected, expect.any(String)]);
    // The requests have used the sample. The next commands replace it by the user's own data.
    if (line === "troupe approvals ls") expect(openOfficeOf(home, test).account.person.address).toBe("me@office.local");
  }
  const printed = (start: string): string =>
    [...results].find(([line]) => line.startsWith(start))?.[1].stdout ?? `no command begins with ${start}`;
  expect(printed('troupe run --team office "Schedule')).toMatch(/^Scheduled “Team meeting” with Mara Lindqvist/);
  expect(printed('troupe run --team office "What')).toMatch(/^You have \d events? on Tuesday/);
  expect(printed('troupe run --team office "Find contact')).toContain("john@acme.example");
  expect(printed('troupe run --team office "Summarize')).toMatch(/^#project-alpha has \d+ messages/);
  expect(printed('troupe run --team office "Find Acme')).toMatch(
    /Found 3 contacts.*messages about “the renewal”.*#support has/,
  );
  expect(printed("troupe approvals ls")).toContain("John Carver <john@acme.example> (external)");
  expect(printed("troupe office import")).toMatch(
    /archive\.mbox {2}new: 1 message\n.*calendar\.ics {2}new: 1 event\n.*contacts\.vcf {2}new: 1 contact\n/,
  );

  // The commands of its table ask a person.
  const connecting = startTroupe(["connect", "google", "--client", "client_secret.json"], {
    home,
    cwd: work,
    env,
    test,
  });
  const [url] = await connecting.waitForOutput(/http:\/\/127\.0\.0\.1:\d+\/o\/oauth2\/v2\/auth\S+/);
  await visit(url);
  expect((await connecting.ended).code).toBe(0);
  expect((await troupe(["connect", "slack"], { home, cwd: work, env, input: userToken })).code).toBe(0);
  for (const row of guide.text.matchAll(/\| `(troupe connect [^`]*)` \|/g))
    expect(row[1]).toMatch(/^troupe connect (google --client client_secret\.json|slack|mail ADDRESS …)$/);
  expect((await run(["connections", "test"])).stdout.match(/^✓/gm)).toHaveLength(4);

  // Its settings choose.
  const config = path.join(home, "user", ".config", "troupe", "config.yaml");
  await mkdir(path.dirname(config), { recursive: true });
  const [who = "", chosen = ""] = guide.blocks("yaml");
  await writeFile(config, who);
  expect((await run(["config", "get", "office.domains"])).stdout).toBe("acme.example, acme.dev\n");
  const [own] = await openConnectionStore(home).list();
  await writeFile(config, chosen.replace("google/kim@acme.example", own?.id ?? ""));
  const rows: { id: string; usedFor: string[] }[] = JSON.parse((await run(["connections", "ls", "--json"])).stdout);
  expect(rows.find((row) => row.id === own?.id)?.usedFor).toEqual(["email", "calendar", "contacts"]);
  expect(rows.find((row) => row.id.startsWith("slack"))?.usedFor).toEqual([]);
  expect((await run(["connections", "rm", own?.id ?? ""])).code).toBe(0);
});
