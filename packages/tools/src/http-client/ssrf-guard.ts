import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { RunFailure, TroupeError } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { isBadPort } from "./bad-ports.ts";
import { untilAborted } from "./deadlines.ts";
import { type HostRule, hostOf, isExactly, isWithin, parseHostRule, portOf } from "./host-rule.ts";
import { codeOf } from "./network-failure.ts";
import { plainAddress, whyNotPublic } from "./public-address.ts";

/** All addresses of a name. Asked once for each request: whatever it would say next is never heard. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Where a request goes: what was checked is what is connected to. */
export interface Target {
  readonly url: URL;
  /** The name, or the address where the URL has one; never in brackets. */
  readonly host: string;
  readonly port: number;
  /** Every one of them may be connected to. */
  readonly addresses: readonly string[];
}

export interface TargetRules {
  policy: WebPolicy;
  /** @default getaddrinfo */
  resolve?: Resolve;
}

export type FindTarget = (url: URL, signal: AbortSignal) => Promise<Target>;

/**
 * Says where a URL leads, or throws a `RunFailure` where nobody may go: every address of the name has to be public,
 * unless this machine's owner has allowed the host.
 */
export function createTargets({ policy, resolve = resolveAll }: TargetRules): FindTarget {
  const allowed = policy.privateHosts.map(ruleOf);
  const denied = policy.deny.map(ruleOf);

  const check = (url: URL, address: string, asked: HostRule & { port: number }): void => {
    const addressHost = isIP(address) === 6 ? `[${address}]` : address;
    if (denied.some((rule) => isExactly(rule, { ...asked, host: addressHost }))) throw deniedHost(url);
    if (allowed.some((rule) => isExactly(rule, asked))) return;
    const why = isOwnAddress(plainAddress(address)) ? "this machine's own" : whyNotPublic(address);
    if (why !== null) throw notPublic(url, address, why);
  };

  return async (url, signal) => {
    const host = hostOf(url);
    const port = portOf(url);
    checkForm(url, port);
    if (denied.some((rule) => isWithin(rule, { host, port }))) throw deniedHost(url);
    const bare = host.replace(/^\[|\]$/g, "");
    const addresses = isIP(bare) ? [bare] : await addressesOf(bare, resolve, signal);
    for (const address of addresses) check(url, address, { host, port });
    return { url, host: bare, port, addresses };
  };
}

/** A URL as a model wrote it. */
export function parseWebUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url) return url;
  const shown = JSON.stringify(text.slice(0, 200));
  throw refused("params", `${shown} is no URL; write the whole of it, such as https://example.org/page`);
}

function checkForm(url: URL, port: number): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused("params", `only http and https can be asked, and this is ${url.protocol}//…`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("params", `the URL of ${url.host} has a user or password in it; ask without them`);
  }
  if (isBadPort(port))
    throw refused("permission", `${url.host} cannot be asked: no web server listens at port ${port}`);
}

async function addressesOf(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = await untilAborted(resolve(host), signal).catch((error: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw notFound(host, codeOf(error) === "EAI_AGAIN" ? "the name server did not answer" : "no such name is known");
  });
  if (addresses.length === 0) throw notFound(host, "the name has no address");
  return addresses;
}

const resolveAll: Resolve = async (host) => {
  const found = await lookup(host, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/** What listens there may think that whoever comes from here is a friend. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((own) => own?.some((each) => each.address === address));
}

function ruleOf(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule) return rule;
  throw new TroupeError("INVALID_POLICY", `web: ${JSON.stringify(text)} names no host`, {
    fix: "write a host, or host:port, such as wiki.example.org or 127.0.0.1:8080",
  });
}

function notPublic(url: URL, address: string, why: string): RunFailure {
  const leads = hostOf(url).replace(/^\[|\]$/g, "") === address ? "is" : `leads to ${address}, which is`;
  return refused(
    "permission",
    `${url.host} is not asked: it ${leads} no public address (${why}). The owner of this machine can allow it: web: {privateHosts: ["${url.host}"]} in policy.yaml`,
  );
}

function deniedHost(url: URL): RunFailure {
  return refused("permission", `${url.host} is not asked: this machine's policy denies it (web.deny)`);
}

function notFound(host: string, why: string): RunFailure {
  return new RunFailure({
    type: "network",
    message: `${host} cannot be found: ${why}; check its spelling`,
    recoverable: false,
  });
}

function refused(type: "params" | "permission", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
