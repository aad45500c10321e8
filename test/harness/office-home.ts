import { rmSync } from "node:fs";
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type CalendarEvent, type LocalOffice, openLocalOffice } from "@troupe/connectors";
import { expect, type TestContext } from "vitest";
import { troupe } from "./cli.ts";
import { tempFolder } from "./temp-folder.ts";

/** A home whose office is the sample company, as `troupe office seed` makes it. */
export async function createOfficeHome(test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const home = await tempFolder("office", test);
  seeded ??= seedHome();
  await cp(await seeded, home, { recursive: true });
  return home;
}

/** The home that the tests of a process copy. */
let seeded: Promise<string> | undefined;

async function seedHome(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), "troupe-office-seed-"));
  process.once("exit", () => rmSync(home, { recursive: true, force: true }));
  const { code, stderr } = await troupe(["office", "seed"], { home });
  expect(code, stderr).toBe(0);
  return home;
}

/** Opens the office of a home beside its other processes. */
export function openOfficeOf(home: string, test: Pick<TestContext, "onTestFinished">): LocalOffice {
  const office = openLocalOffice({ folder: path.join(home, "office") });
  test.onTestFinished(() => office.close());
  return office;
}

const dayMs = 24 * 3_600_000;

/** The events of the coming weeks with this title, without those of a series: the sample has a weekly one. */
export async function eventsCalled(office: LocalOffice, title: string): Promise<CalendarEvent[]> {
  const span = { from: new Date().toISOString(), to: new Date(Date.now() + 30 * dayMs).toISOString() };
  const { items } = await office.calendar.listEvents({ ...span, limit: 100 });
  return items.filter((event) => event.title === title && event.series === null);
}
