import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request } from "playwright-core";
import { it, type TestContext } from "vitest";
import { describeInChromium, reboundHost } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { casesOf } from "../harness/long.ts";
import { linkOf, openPage } from "../harness/tab.ts";
import { rowOf } from "../harness/tree-view.ts";

// S6 and S7 in a browser: the user is logged in, and a page of another origin is open beside the dashboard.

describeInChromium("a page of another origin, in a browser that is logged in", (browser) => {
  // Another port of the same host is the hardest: the browser counts it as the same site and sends the cookie along.
  it.for(casesOf(["127.0.0.1", "localhost"], (host) => host === "127.0.0.1"))(
    "on %s can neither read nor change anything",
    async (host, test) => {
      const { expect } = test;
      const daemon = await startDemoDaemon(test, 3);
      const { page: own, context } = await openPage(browser(), daemon, { test });
      await own.getByTestId("run-demo").click();
      await rowOf(own, "coder").waitFor();
      const before = await daemon.client.sessions({ limit: 10 });
      const session = before.sessions[0]?.session ?? "";

      const page = await context.newPage();
      const asked = requestsOf(page, daemon.url);
      await page.goto(await serveEmptyPage(host, test));
      const got = await page.evaluate(attack, { url: daemon.url, token: daemon.token, session });
      expect(got).toEqual(Object.fromEntries(Object.keys(got).map((name) => [name, "nothing"])));
      expect(Object.keys(got)).toHaveLength(21);

      for (const action of ["/api/v1/sessions", `/api/v1/sessions/${session}/cancel`, "/api/v1/login"]) {
        expect(await submitForm(page, daemon.url + action)).toContain("FORBIDDEN");
      }
      expect(asked.length).toBeGreaterThanOrEqual(18);
      // A request that the browser itself blocks has no response here.
      const answers = await Promise.all(asked.map((request) => request.existingResponse()));
      expect(new Set(answers.flatMap((answer) => answer?.status() ?? []))).toEqual(new Set([403]));

      const after = await daemon.client.sessions({ limit: 10 });
      expect(after.sessions.map((row) => row.session)).toEqual([session]);
      expect(after.sessions[0]?.status).toMatch(/running|completed/);
      const { agents } = await daemon.client.agentFiles.list(null);
      expect(agents.filter(({ origin }) => origin !== "builtin")).toEqual([]);
      expect(await daemon.client.sessionFiles.list(session)).toEqual([]);
    },
  );

  it("cannot put the dashboard into a frame, nor reach into a window of it", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { context } = await openPage(browser(), daemon, { test });
    const page = await context.newPage();
    await page.goto(await serveEmptyPage("127.0.0.1", test));
    const framed = await page.evaluate(async (url) => {
      const frame = document.createElement("iframe");
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      frame.src = url;
      document.body.append(frame);
      await loaded;
      return frame.contentDocument?.body.textContent ?? "";
    }, daemon.url);
    expect(framed).toBe("");
    expect(page.frames().some((frame) => frame.url().startsWith(daemon.url))).toBe(false);

    const opening = context.waitForEvent("page");
    await page.evaluate((url) => Object.assign(window, { opened: open(url) }), linkOf(daemon));
    const opened = await opening;
    await opened.waitForLoadState();
    expect(
      await page.evaluate(() => {
        const { opened: other } = window as unknown as { opened: Window | null };
        try {
          return other?.document.title ?? "no document";
        } catch {
          return "not allowed";
        }
      }),
    ).not.toBe("troupe");
    expect(await opened.getByTestId("session-item").count()).toBe(0);
  });

  it("gains nothing by a host name of its own that resolves to the daemon's address", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { context } = await openPage(browser(), daemon, { test });
    const page = await context.newPage();
    const response = await page.goto(`http://${reboundHost}:${new URL(daemon.url).port}/api/v1/sessions`);
    expect(response?.status()).toBe(403);
    expect(await page.textContent("body")).toContain("FORBIDDEN");
  });
});

function requestsOf(page: Page, url: string): Request[] {
  const asked: Request[] = [];
  page.on("request", (request) => {
    if (request.url().startsWith(url)) asked.push(request);
  });
  return asked;
}

/** A server of another origin. */
async function serveEmptyPage(host: string, test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>elsewhere</title><body></body>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.onTestFinished(() => void server.close());
  return `http://${host}:${(server.address() as AddressInfo).port}/`;
}

/** All the ways in which a page can ask. Each comes to "nothing", or to whatever it got hold of. */
async function attack(target: { url: string; token: string; session: string }): Promise<Record<string, string>> {
  const { url, session } = target;
  const read = async (path: string, init: RequestInit): Promise<string> => {
    try {
      const response = await fetch(url + path, { credentials: "include", ...init });
      return response.type === "opaque" ? "nothing" : `${response.status} ${await response.text()}`;
    } catch {
      return "nothing";
    }
  };
  const load = (element: HTMLElement & { src: string }, path: string): Promise<string> =>
    new Promise((resolve) => {
      element.addEventListener("error", () => resolve("nothing"));
      element.addEventListener("load", () => resolve(`${element.tagName} loaded ${path}`));
      element.src = url + path;
      document.body.append(element);
    });
  const follow = (path: string): Promise<string> =>
    new Promise((resolve) => {
      const source = new EventSource(url + path, { withCredentials: true });
      source.addEventListener("open", () => resolve("the stream opened"));
      source.addEventListener("error", () => {
        source.close();
        resolve("nothing");
      });
    });
  const connect = (path: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace("http", "ws") + path);
      socket.addEventListener("open", () => resolve("the socket opened"));
      socket.addEventListener("error", () => resolve("nothing"));
    });
  const json = { "content-type": "application/json" };
  const task = JSON.stringify({ task: "planted" });
  const agent = JSON.stringify({ id: "planted", version: null });
  const file = JSON.stringify({ name: "planted", content: "AP8=" });
  const login = JSON.stringify({ token: target.token });
  return {
    "reading the sessions": await read("/api/v1/sessions", {}),
    "reading a session": await read(`/api/v1/sessions/${session}`, {}),
    "reading the status": await read("/api/v1/status", {}),
    "reading the page": await read("/", {}),
    "reading without cors": await read("/api/v1/sessions", { mode: "no-cors" }),
    "reading with the token": await read("/api/v1/status", { headers: { authorization: `Bearer ${target.token}` } }),
    "starting as json": await read("/api/v1/sessions", { method: "POST", headers: json, body: task }),
    "starting as text": await read("/api/v1/sessions", { method: "POST", mode: "no-cors", body: task }),
    "starting as a form": await read("/api/v1/sessions", {
      method: "POST",
      mode: "no-cors",
      body: new URLSearchParams({ task }),
    }),
    "writing an agent": await read("/api/v1/agent-files/planted", { method: "PUT", headers: json, body: agent }),
    "checking an agent as text": await read("/api/v1/agent-checks", { method: "POST", mode: "no-cors", body: agent }),
    "cancelling as text": await read(`/api/v1/sessions/${session}/cancel`, {
      method: "POST",
      mode: "no-cors",
      body: "{}",
    }),
    "reading the files of a session": await read(`/api/v1/sessions/${session}/files`, {}),
    "uploading a file": await read(`/api/v1/sessions/${session}/files`, { method: "PUT", headers: json, body: file }),
    "reading a file": await read(`/api/v1/sessions/${session}/files/content?name=planted`, {}),
    "logging in": await read("/api/v1/login", { method: "POST", headers: json, body: login }),
    "an image": await load(document.createElement("img"), "/api/v1/status"),
    "a script": await load(document.createElement("script"), "/api/v1/sessions"),
    "the events": await follow("/api/v1/events"),
    // Returns no response to the page. The list of sessions shows whether it had an effect.
    "a beacon": String(navigator.sendBeacon(`${url}/api/v1/sessions`, task)).replace(/true|false/, "nothing"),
    "a socket": await connect("/api/v1/events"),
  };
}

/** Submits a form of this page and returns the page that the browser then shows. */
async function submitForm(page: Page, action: string): Promise<string> {
  await page.evaluate((target) => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = target;
    form.enctype = "text/plain";
    const field = document.createElement("input");
    field.name = '{"task":"planted","reason":"';
    field.value = '"}';
    form.append(field);
    document.body.append(form);
    form.submit();
  }, action);
  await page.waitForURL(action);
  const shown = (await page.textContent("body")) ?? "";
  await page.goBack();
  return shown;
}
