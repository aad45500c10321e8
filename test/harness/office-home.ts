import path from "node:path";
import { type CalendarEvent, type LocalOffice, openLocalOffice } from "@troupe/connectors";
import { expect, type TestContext } from "vitest";
import { troupe } from "./cli.ts";
import { tempFolder } from "./temp-folder.ts";

/** A home whose office is the sample company, as `troupe office seed` makes it. */
export async function createOfficeHome(test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const home = await tempFolder("office", test);
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
