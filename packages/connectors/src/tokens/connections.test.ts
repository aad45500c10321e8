import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRedactor } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { openConnectionStore, type StoredConnection } from "./connections.ts";

const ana: StoredConnection = {
  id: "google/ana@acme.example",
  kind: "google",
  account: "ana@acme.example",
  domains: ["mail", "calendar", "contacts"],
  createdAt: "2026-03-02T12:00:00.000Z",
  settings: { tokenExpiresAt: "2026-03-02T13:00:00.000Z" },
};
const secrets = { accessToken: "ya29.access-0123456789", refreshToken: "1//refresh-0123456789" };

const folder = () => mkdtempDisposable(join(tmpdir(), "troupe-connections-"));
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("connections of a home", () => {
  test("are stored, listed without their secrets, and removed", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, secrets);
    await store.put({ ...ana, id: "google/work", account: "ana@work.example" }, secrets);
    expect((await store.list()).map(({ id }) => id)).toEqual([ana.id, "google/work"]);
    expect(JSON.stringify(await store.list())).not.toContain("0123456789");
    expect(await openConnectionStore(made.path).get(ana.id)).toEqual({ connection: ana, secrets });
    expect([await store.remove(ana.id), await store.remove(ana.id), await store.get(ana.id)]).toEqual([
      true,
      false,
      null,
    ]);
  });

  test("need no file before the first one", async () => {
    await using made = await folder();
    const home = join(made.path, "home");
    const store = openConnectionStore(home);
    expect([await store.list(), await store.get("x"), await store.secrets()]).toEqual([[], null, []]);
    await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("are readable by their user only, also after another program changed the mode", async () => {
    await using made = await folder();
    const store = openConnectionStore(join(made.path, "home"));
    const file = join(made.path, "home", "connections.db");
    await store.put(ana, secrets);
    expect([await modeOf(file), await modeOf(join(made.path, "home"))]).toEqual([0o600, 0o700]);
    await chmod(file, 0o644);
    await store.list();
    expect(await modeOf(file)).toBe(0o600);
  });

  test("give their secrets to a redactor", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, secrets);
    const redactor = createRedactor({ values: await store.secrets(), shapes: false });
    expect(redactor.text(`token ${secrets.accessToken}, ${secrets.refreshToken}`)).toBe(
      "token [redacted: google_ana_acme.example accessToken], [redacted: google_ana_acme.example refreshToken]",
    );
  });

  test("leave no bytes of a replaced or removed token in the file", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, secrets);
    await store.put(ana, { ...secrets, refreshToken: "another-value" });
    const bytes = () => readFile(join(made.path, "connections.db"), "latin1");
    expect(await bytes()).toContain(secrets.accessToken);
    expect(await bytes()).not.toContain(secrets.refreshToken);
    await store.remove(ana.id);
    expect(await bytes()).not.toContain(secrets.accessToken);
  });

  test("are not stored with a line break in a name, or without a domain", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await expect(store.put({ ...ana, id: "a\nb" }, secrets)).rejects.toMatchObject({ type: "params", param: "id" });
    await expect(store.put({ ...ana, domains: [] }, secrets)).rejects.toMatchObject({ param: "domains" });
    expect(await store.list()).toEqual([]);
  });

  test.for([
    { what: "no database", bytes: "hello ".repeat(1_000) },
    { what: "half of a database", bytes: `SQLite format 3\0${"x".repeat(500)}` },
  ])("in a file with $what are an error that names the file", async ({ bytes }) => {
    await using made = await folder();
    const file = join(made.path, "connections.db");
    await writeFile(file, bytes);
    const store = openConnectionStore(made.path);
    await expect(store.list()).rejects.toMatchObject({ type: "tool_error", message: expect.stringContaining(file) });
    await expect(store.put(ana, secrets)).rejects.toMatchObject({ type: "tool_error" });
  });
});

describe("a change of a connection", () => {
  const counted = { ...secrets, count: "0" };

  test("happens after another, in one process", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, counted);
    const increment = () =>
      openConnectionStore(made.path).change(ana.id, async ({ connection, secrets: { count = "", ...rest } }) => {
        await new Promise((resolve) => setImmediate(resolve));
        return { connection, secrets: { ...rest, count: `${Number(count) + 1}` } };
      });
    await Promise.all(Array.from({ length: 8 }, increment));
    expect((await store.get(ana.id))?.secrets.count).toBe("8");
  });

  test("that throws changes nothing, and frees the lock", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, secrets);
    await expect(store.change(ana.id, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    await store.put({ ...ana, account: "other@acme.example" }, secrets);
    expect((await store.get(ana.id))?.connection.account).toBe("other@acme.example");
  });

  test("of a removed connection is an auth error", async () => {
    await using made = await folder();
    const attempt = openConnectionStore(made.path).change("google/none", async (opened) => opened);
    await expect(attempt).rejects.toMatchObject({ type: "auth", message: expect.stringContaining('"google/none"') });
  });

  test("by a process that is killed within it leaves the old values and no lock", async () => {
    await using made = await folder();
    const store = openConnectionStore(made.path);
    await store.put(ana, secrets);
    const script = `
      import { openConnectionStore } from ${JSON.stringify(join(import.meta.dirname, "connections.ts"))};
      await openConnectionStore(process.argv[1]).change(process.argv[2], async ({ connection }) => {
        process.stdout.write("inside");
        setInterval(() => {}, 1_000);
        await new Promise(() => {});
        return { connection, secrets: {} };
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, made.path, ana.id], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const waiting = store.change(ana.id, async ({ connection, secrets: old }) => {
      expect(child.killed).toBe(true);
      return { connection, secrets: { ...old, accessToken: "ya29.new-token" } };
    });
    expect((await store.get(ana.id))?.secrets).toEqual(secrets);
    child.kill("SIGKILL");
    await once(child, "close");
    expect((await waiting).secrets).toEqual({ ...secrets, accessToken: "ya29.new-token" });
  });
});
