import type { RequestListener, ServerResponse } from "node:http";
import type { Clock, ToolContext, ToolOutcome } from "@troupe/core";
import { sealEntry } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "@troupe/core/tool";
import { expect } from "vitest";
import { createFileToolDeps } from "../files/file-tool-deps.ts";
import { createReadTool } from "../files/read.ts";
import { createWriteLocalFileTool } from "../files/write.ts";
import { type TestServer, testWeb } from "../http-client/servers.fixture.ts";
import { createToolHost } from "../tool-host.ts";
import { createReportTools } from "./create-report-tools.ts";

const sentence = "The river rose by two metres in the night, and in the morning the bridge was gone. ";

/** An article of which a page reader takes the text, without its menu and its picture. */
export function articleHtml(title: string): string {
  return `<!doctype html><html><head><title>${title}</title></head><body><nav><a href="/sports">Sports</a></nav>
<article><h1>${title}</h1><p>${title}: ${sentence.repeat(8)}</p><p>${sentence.repeat(4)}
<img src="bridge.jpg" alt="the bridge"></p></article></body></html>`;
}

/** Answers by path: `/gone`, `/hang`, `/late-*` (hangs at the first request), `/loop`, `/huge`, `/binary`, or an article. */
export function reportSite(): { respond: RequestListener; countOf(path: string): number } {
  const counts = new Map<string, number>();
  return {
    countOf: (path) => counts.get(path) ?? 0,
    respond(request, response) {
      const path = request.url ?? "/";
      const key = `${(request.headers.host ?? "").split(":")[0]}${path}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const [, kind = ""] = path.split(/[/-]/);
      const answer = answers[kind] ?? article;
      answer(response, { path, count: counts.get(key) ?? 1 });
    },
  };
}

type Answer = (response: ServerResponse, request: { path: string; count: number }) => void;

const article: Answer = (response, { path }) => {
  response.writeHead(200, { "content-type": "text/html" }).end(articleHtml(`Article ${path.slice(1)}`));
};

const answers: Readonly<Record<string, Answer>> = {
  gone: (response) => response.writeHead(404, { "content-type": "text/html" }).end("<p>Not here.</p>"),
  removed: (response) => response.writeHead(410).end(),
  hang: () => {},
  late: (response, request) => {
    if (request.count > 1) article(response, request);
  },
  loop: (response, { path }) => response.writeHead(302, { location: path }).end(),
  binary: (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end(Buffer.from("\x89PNG\r\n\x1a\n\0\0\xff", "latin1")),
  huge: (response) => {
    response.writeHead(200, { "content-type": "text/html" });
    sendMegabytes(response, 200);
  },
  mcp: (response) => response.writeHead(200, { "content-type": "text/plain" }).end("MCP error -32603: out of quota"),
  cut: (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"title": "cut of'),
  timeout: (response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('{"error":{"code":"1234"}}'.padEnd(171)),
  missing: (response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('{"error":{"code":"1214"}}'.padEnd(90)),
};

function sendMegabytes(response: ServerResponse, count: number): void {
  const megabyte = Buffer.alloc(1_000_000, "x");
  let sent = 0;
  const send = (): void => {
    while (sent < count && !response.destroyed) {
      sent += 1;
      if (!response.write(megabyte)) return void response.once("drain", send);
    }
    response.end();
  };
  response.on("error", () => {});
  send();
}

/** The system's clock, except that the 20 seconds of a page end when the test says so. */
function withPageTimers(timers: Set<() => void>): Clock {
  const system = systemClock();
  return {
    ...system,
    after(delayMs, callback) {
      if (delayMs !== 20_000) return system.after(delayMs, callback);
      const expire = (): void => {
        timers.delete(expire);
        callback();
      };
      timers.add(expire);
      return () => void timers.delete(expire);
    },
  };
}

/** A run with the tools of a report over a site: it keeps a journal of its calls, as a host does. */
export function reportRun(
  { port }: TestServer,
  context: ToolContext,
  { memoryFolder, sites }: { memoryFolder: string; sites: readonly string[] },
) {
  const { options } = testWeb({ sites: Object.fromEntries(sites.map((name) => [name, port])) });
  const { policy: web, clock: _clock, ...httpClient } = options;
  const pageTimers = new Set<() => void>();
  const clock = withPageTimers(pageTimers);
  const journal: string[] = [];
  const reader = { readRun: async () => journal };
  const files = createFileToolDeps({ journal: reader });
  const open = (folder = memoryFolder): Tool[] => [
    ...createReportTools({ web, httpClient, journal: reader, memoryFolder: folder, clock }),
    createReadTool(files),
    createWriteLocalFileTool(files),
  ];
  let tools = open();
  let calls = 0;

  const contextOf = (call: number, changes: Partial<ToolContext> = {}): ToolContext => ({
    ...context,
    grant: { ...context.grant, tools: tools.map(({ spec }) => spec.name) },
    idempotencyKey: `${context.run}/1/${call}`,
    ...changes,
  });
  const callOf = (name: string, args: object) => ({
    id: "1",
    name,
    args: JSON.parse(JSON.stringify(args)),
    problem: null,
  });
  const record = (call: number, tool: string, outcome: ToolOutcome): void => {
    const head = {
      v: 1,
      session: context.session,
      run: context.run,
      index: journal.length,
      epoch: 1,
      host: "h",
      at: 0,
      prev: null,
    } as const;
    journal.push(sealEntry(head, { kind: "tool.finished", step: 1, call, tool, outcome }).text);
  };

  return {
    journal,
    /** Waits until only these many fetches are under way, and ends their 20 seconds. */
    async abandonLast(count: number): Promise<void> {
      await expect.poll(() => pageTimers.size).toBe(count);
      for (const expire of [...pageTimers]) expire();
    },
    /** Runs one call and stores its outcome in the journal. */
    async call(name: string, args: object, changes?: Partial<ToolContext>): Promise<ToolOutcome> {
      const number = calls++;
      const host = createToolHost({ tools });
      const own = contextOf(number, changes);
      const outcome = await host.run(callOf(name, args), { ...own, plan: await host.plan(callOf(name, args), own) });
      record(number, name, outcome);
      return outcome;
    },
    /** Starts a call and never stores an outcome, like a host that is killed. Returns the number of the call. */
    begin(name: string, args: object, signal: AbortSignal): number {
      const number = calls++;
      void createToolHost({ tools }).run(callOf(name, args), contextOf(number, { signal, plan: [] }));
      return number;
    },
    /** Continues a call that another host began, with fresh tools. A folder of its own stands for another machine. */
    async resume(number: number, name: string, args: object, folder?: string): Promise<ToolOutcome> {
      tools = open(folder);
      const outcome = await createToolHost({ tools }).verify(callOf(name, args), contextOf(number, { plan: [] }));
      if (outcome === null) throw new Error("the call was not continued");
      record(number, name, outcome);
      return outcome;
    },
    /** The next calls run in a new process. */
    restart(folder?: string): void {
      tools = open(folder);
    },
  };
}
