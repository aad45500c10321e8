import type { RunRow, SessionDetail } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient } from "./client.ts";
import type { HttpServer } from "./serve.ts";
import {
  approvalRow,
  createFakeService,
  type FakeService,
  runRow,
  serveFake,
  sessionA,
  sessionRow,
  token,
} from "./service.fixture.ts";

const pageBytesMax = 1024 * 1024;
const idOf = (number: number): string => `01990000-0000-7000-8000-${String(number).padStart(12, "0")}`;

let service: FakeService;
let server: HttpServer;
beforeEach(async () => {
  service = createFakeService();
  server = await serveFake(service);
});
afterEach(() => server.close());

/** A session of 1,000 runs with texts of some thousand characters, of which many need six bytes, and two approvals each. */
function commitLarge(runs = 1_000): void {
  const text = `${"long ".repeat(400)}${"\u001b".repeat(200)}`;
  service.commit(sessionRow(sessionA, { task: text }));
  for (let order = 0; order < runs; order += 1) {
    const row: RunRow = { ...runRow(idOf(order), sessionA), order, task: text, summary: text };
    service.commit(row);
    for (const i of [1, 2]) {
      service.commit(approvalRow(idOf(order + i * 100_000), sessionA, { run: row.run, args: { command: text } }));
    }
  }
}

async function readPages(): Promise<SessionDetail[]> {
  const pages: SessionDetail[] = [];
  for (let after: string | undefined | null; after !== null; ) {
    const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
    const reply = await fetch(`${server.url}/api/v1/sessions/${sessionA}${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body = await reply.text();
    expect(reply.status, body).toBe(200);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(pageBytesMax);
    const page: SessionDetail = JSON.parse(body);
    pages.push(page);
    after = page.next ?? null;
  }
  return pages;
}

describe("a session of 1,000 runs with long texts", () => {
  it("comes in pages of at most 1 MB that have every run and approval once, in order", async () => {
    commitLarge();
    const whole = await service.record.session(sessionA);
    const pages = await readPages();
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.flatMap(({ runs }) => runs)).toEqual(whole?.runs);
    expect(pages.flatMap(({ approvals }) => approvals)).toEqual(whole?.approvals);
    expect(pages.at(-1)).not.toHaveProperty("next");
  });

  it("is whole for the client of the command line", async () => {
    commitLarge();
    const whole = await service.record.session(sessionA);
    expect(await createHttpClient({ url: server.url, token }).session(sessionA)).toEqual(whole);
  });
});

it("a small session is one page, as it always was", async () => {
  commitLarge(3);
  const [page, ...more] = await readPages();
  expect(page).toEqual(await service.record.session(sessionA));
  expect(more).toEqual([]);
});

it("rows that are larger than a page have the beginning of their texts, and say so", async () => {
  const huge = "\u0001x".repeat(200_000);
  const names = Array.from({ length: 20_000 }, (_, i) => `folder/${i}/${"n".repeat(80)}`);
  const row = { ...runRow(idOf(1), sessionA), order: 0, task: huge, summary: huge, error: huge, filesModified: names };
  const small = { ...runRow(idOf(2), sessionA), order: 1 };
  const approval = approvalRow(idOf(3), sessionA, { args: { content: huge } });
  service.commit(sessionRow(sessionA, { task: huge }), row, small, approval);
  const pages = await readPages();
  const [first, second] = pages.flatMap(({ runs }) => runs);
  expect(first).toMatchObject({ run: row.run, isCut: true, task: expect.stringContaining("x…") });
  expect(first?.filesModified).toEqual(names.slice(0, 100).map((name) => expect.stringContaining(name.slice(0, 20))));
  expect(second).toEqual(small);
  expect(pages.flatMap(({ approvals }) => approvals)).toEqual([{ ...approval, args: null, isCut: true }]);
});

it("a cursor that no page gave is refused", async () => {
  commitLarge(1);
  const reply = await fetch(`${server.url}/api/v1/sessions/${sessionA}?after=7`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: "USAGE" } }]);
});
