import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { openLocalOffice } from "../local/open-local-office.ts";
import type { Connectors } from "../ports/connectors.ts";
import { seedOffice } from "../sample/seed-office.ts";
import type { OfficeToolOptions } from "./calls/tool-options.ts";
import { createOfficeTools } from "./create-office-tools.ts";

/** A Wednesday, 13:00 in Berlin. */
export const nowMs = Date.UTC(2026, 2, 4, 12);

export const run = "0198e2f0-0000-7000-8000-000000000001";

/** Opens the sample office in its own folder, with its tools. */
export async function openSample(options: Partial<OfficeToolOptions> & { connectors?: never; wrap?: Wrap } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "troupe-tools-"));
  const clock = { nowMs, now: () => clock.nowMs, monotonicMs: () => clock.nowMs };
  const office = openLocalOffice({
    folder: join(folder, "office"),
    user: { name: "Kim Berg", address: "kim@lantern.example" },
    timeZone: "Europe/Berlin",
    clock,
  });
  seedOffice(office);
  const { wrap = (connectors: Connectors) => connectors, ...rest } = options;
  const connectors = wrap(office);
  const tools = createOfficeTools({ clock, connectors: async () => connectors, ...rest });
  let callCount = 0;
  const nextKey = () => {
    callCount += 1;
    return `${run}/${callCount}/0`;
  };
  const contextOf = (change: Partial<ToolContext> = {}): ToolContext => ({
    ...{ session: run, run, agent: "email", workspace: folder, approved: false, plan: null },
    grant: { tools: tools.map(({ spec }) => spec.name), readOnly: false } as unknown as ToolContext["grant"],
    signal: new AbortController().signal,
    idempotencyKey: nextKey(),
    ...change,
  });
  const bind = (name: string, args: unknown, change?: Partial<ToolContext>) => {
    const context = contextOf(change);
    const tool = tools.find(({ spec }) => spec.name === name);
    if (!tool) throw new Error(`no tool is called ${name}`);
    return { bound: tool.bind(args, context), context };
  };
  return {
    folder,
    office,
    tools,
    clock,
    contextOf,
    bind,
    /** Runs a call and parses its output. */
    async call(name: string, args: unknown, change?: Partial<ToolContext>) {
      const { bound, context } = bind(name, args, change);
      const result = await bound.run(context);
      return { ...result, output: JSON.parse(result.output) };
    },
    /** The preview of a call, with its risk. */
    async preview(name: string, args: unknown, change?: Partial<ToolContext>) {
      const { bound, context } = bind(name, args, change);
      return (await bound.preview?.(context)) ?? null;
    },
    async close() {
      office.close();
      await rm(folder, { recursive: true });
    },
  };
}

type Wrap = (connectors: Connectors) => Connectors;
export type Sample = Awaited<ReturnType<typeof openSample>>;
