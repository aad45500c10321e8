/** Tests read-only commands: agents, doctor, version. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { AgentDefinition } from "@troupe/core";
import { AgentList } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

describe.concurrent("troupe --version", () => {
  it("prints the version of the package, and makes no home", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("version", { onTestFinished });
    const manifest = await readFile(new URL("../../packages/cli/package.json", import.meta.url), "utf8");
    const version = z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
    expect(await troupe(["--version"], { home })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(await readdir(home)).toEqual([]);
  });
});

describe.concurrent("troupe agents", () => {
  it("ls lists the agents, as a table and as JSON", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("agents", { onTestFinished });
    const [text, json] = await Promise.all([
      troupe(["agents", "ls"], { home }),
      troupe(["agents", "ls", "--json"], { home }),
    ]);
    expect([text.code, json.code, json.stderr]).toEqual([0, 0, ""]);
    expect(text.stderr).toMatch(/^(\d+ teams?: troupe teams ls\n)?$/);
    const { agents, problems } = AgentList.parse(JSON.parse(json.stdout));
    expect(problems).toEqual([]);
    const ids = agents.filter(({ team }) => team === undefined).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["main", "researcher", "planner", "coder", "tester", "reviewer"]));
    const rows = text.stdout.trimEnd().split("\n");
    expect(rows.slice(1).map((row) => row.split(" ")[0])).toEqual(ids);
  });

  it("show prints one with its prompt, as text and as JSON", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("agents", { onTestFinished });
    const [text, json] = await Promise.all([
      troupe(["agents", "show", "coder"], { home }),
      troupe(["agents", "show", "coder", "--json"], { home }),
    ]);
    expect([text.code, json.code]).toEqual([0, 0]);
    const coder = AgentDefinition.parse(JSON.parse(json.stdout));
    expect(coder.id).toBe("coder");
    expect(text.stdout).toContain(coder.prompt.trim());
    expect(text.stdout).toMatch(/^tools +read, write, edit, apply_patch, .*git_commit, notes, recall$/m);
  });
});

const Doctor = z.object({
  ok: z.boolean(),
  version: z.string(),
  home: z.string(),
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      detail: z.string(),
      fix: z.string().nullable().optional(),
    }),
  ),
});

describe.concurrent("troupe doctor", () => {
  it("checks all requirements of a run, and changes nothing", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("doctor", test);
    const before = await troupe(["doctor", "--json"], { home });
    expect(before.code).toBe(0);
    const { checks, ...facts } = Doctor.parse(JSON.parse(before.stdout));
    expect(facts).toMatchObject({ ok: true, home });
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "home", "owner", "journal", "record", "port", "bus", "provider", "agents"]),
    );
    for (const check of checks) if (check.status !== "ok") expect(check.fix).toBeTruthy();
    expect(await readdir(home)).toEqual([]);

    const daemon = await startDaemonInProcess({ home, test });
    const after = await troupe(["doctor"], { home });
    expect(after.code).toBe(0);
    expect(after.stdout).toContain(`daemon, pid ${daemon.pid}, ${daemon.url}`);
    expect(after.stdout).toMatch(new RegExp(`✓ ok +journal +${path.join(home, "journal.db")}, version \\d+`));
    expect(after.stdout).not.toContain(daemon.token);
  });
});
