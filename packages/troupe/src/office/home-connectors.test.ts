/** Which mail, calendar, contacts and channels the agents of a home use. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConnectionStore, openLocalOffice, type StoredConnection, seedOffice } from "@troupe/connectors";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultOffice, type OfficeSettings } from "../config/office-settings.ts";
import { chooseConnection, createHomeConnectors } from "./home-connectors.ts";

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "troupe-office-"));
});
afterEach(() => rm(path, { recursive: true }));

const connection = (id: string, domains: StoredConnection["domains"]): StoredConnection => ({
  ...{ id, kind: "slack", account: "kim@acme.example", domains, settings: {} },
  createdAt: "2026-03-02T10:00:00Z",
});
const google = connection("google/kim", ["mail", "calendar"]);
const other = connection("google/work", ["mail"]);

const choosing = (connections: Partial<Record<"email" | "calendar", string>>): OfficeSettings => ({
  ...defaultOffice,
  connections: Object.fromEntries(
    Object.entries(connections).map(([domain, value]) => [
      domain,
      { value, origin: { from: "user", where: "c.yaml:2" } },
    ]),
  ),
});

describe("the connection of a domain", () => {
  test.each<[string, Parameters<typeof choosing>[0], StoredConnection[], string | null]>([
    ["is the local office without an account", {}, [], null],
    ["is the only account that has the domain", {}, [google], "google/kim"],
    ["is the local office if no account has the domain", {}, [connection("slack/acme", ["channels"])], null],
    ["is the chosen one of several", { email: "google/work" }, [google, other], "google/work"],
    ["is the local office if that is chosen", { email: "local" }, [google], null],
  ])("%s", async (_, chosen, stored, id) => {
    expect((await chooseConnection("email", choosing(chosen), stored))?.id ?? null).toBe(id);
  });

  test("has to be chosen among several", async () => {
    await expect(chooseConnection("email", defaultOffice, [google, other])).rejects.toMatchObject({
      type: "params",
      message: expect.stringContaining("several accounts are connected for email: google/kim, google/work, local"),
      fix: "write office: {connections: {email: google/kim}} into your configuration (troupe config path)",
    });
  });

  test.each([
    ["an account that does not exist", "email", "google/none"],
    ["an account without the domain", "calendar", "google/work"],
  ] as const)("cannot be %s", async (_, domain, id) => {
    await expect(chooseConnection(domain, choosing({ [domain]: id }), [google, other])).rejects.toMatchObject({
      message: expect.stringContaining(`c.yaml:2 names ${id} for ${domain}, and no such account is connected`),
      fix: expect.stringMatching(/^use one of: .*local$/),
    });
  });
});

describe("the connectors of a home", () => {
  const open = (more: Partial<Parameters<typeof createHomeConnectors>[0]> = {}) =>
    createHomeConnectors({ home: { path }, settings: defaultOffice, ...more });

  test("open the local office at the first use, and say whether it has data", async () => {
    const connectors = open();
    expect(existsSync(join(path, "office"))).toBe(false);
    expect((await (await connectors.open()).mail.status()).account).toBe("me@office.local");
    expect(existsSync(join(path, "office", "office.db"))).toBe(true);
    expect(await connectors.isEmpty()).toBe(true);
    const office = openLocalOffice({ folder: join(path, "office") });
    seedOffice(office);
    office.close();
    expect(await connectors.isEmpty()).toBe(false);
    connectors.close();
    const closed = await connectors.open();
    expect(() => closed.mail).toThrow("the office is closed");
  });

  test("of the program win, and the others stay those of the home", async () => {
    const office = openLocalOffice({ folder: join(path, "own"), user: { name: "Kim", address: "kim@own.example" } });
    const connectors = open({ given: { mail: office.mail } });
    const opened = await connectors.open();
    expect((await opened.mail.status()).account).toBe("kim@own.example");
    expect((await opened.calendar.status()).account).toBe("me@office.local");
    connectors.close();
    office.close();
  });

  test("fail for the one domain whose account cannot be used", async () => {
    await openConnectionStore(path).put(connection("slack/acme", ["channels", "mail"]), { token: "xoxb-1" });
    const connectors = open();
    const opened = await connectors.open();
    expect(() => opened.mail).toThrow("the connection slack/acme has no right to use email");
    expect((await opened.calendar.status()).account).toBe("me@office.local");
    connectors.close();
  });

  test("follow a connection that is added later", async () => {
    const connectors = open();
    expect((await (await connectors.open()).channels.userInfo("me").catch(() => null))?.name ?? null).toBe(null);
    await openConnectionStore(path).put(connection("slack/acme", ["mail", "channels"]), { token: "xoxb-1" });
    const opened = await connectors.open();
    expect(() => opened.mail).toThrow("slack/acme");
    expect(await connectors.isEmpty()).toBe(false);
    connectors.close();
  });
});
