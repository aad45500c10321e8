import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { RunFailure, TroupeError } from "@troupe/core";
import { errorCodeOf, type WebPolicy } from "@troupe/core/internal";
import { untilAborted } from "./deadlines.ts";
import { embeddedAddress, whyNotPublic } from "./public-address.ts";

/** Looks up all addresses of a host name. The guard calls it once for each request, so a later answer has no effect. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The checked destination of a request. */
export interface Target {
  readonly url: URL;
  /** The host name, or the address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The policy allows a connection to each of them. */
  readonly addresses: readonly string[];
}

export interface SsrfGuardOptions {
  policy: WebPolicy;
  /** @default getaddrinfo */
  resolveHost?: ResolveHost;
}

export type ResolveTarget = (url: URL, signal: AbortSignal) => Promise<Target>;

/**
 * Protects private networks from requests that a model or a page asks for (server-side request forgery). The guard
 * resolves a URL to addresses. It throws a `RunFailure` unless every address is public or the policy allows the host.
 */
export function createSsrfGuard({ policy, resolveHost = resolveWithSystem }: SsrfGuardOptions): ResolveTarget {
  const allowed = policy.privateHosts.map(requireHostRule);
  const denied = policy.deny.map(requireHostRule);

  const checkAddress = (url: URL, address: string, hostPort: HostPort): void => {
    const addressHost = isIP(address) === 6 ? `[${address}]` : address;
    if (denied.some((rule) => isExactly(rule, { ...hostPort, host: addressHost }))) throw deniedHost(url);
    if (allowed.some((rule) => isExactly(rule, hostPort))) return;
    const reason = isOwnAddress(embeddedAddress(address)) ? "this machine's own" : whyNotPublic(address);
    if (reason !== null) throw notPublic(url, address, reason);
  };

  return async (url, signal) => {
    const hostPort = { host: hostOf(url), port: portOf(url) };
    checkUrl(url, hostPort.port);
    if (denied.some((rule) => isWithin(rule, hostPort))) throw deniedHost(url);
    const host = withoutBrackets(hostPort.host);
    const addresses = isIP(host) ? [host] : await addressesOf(host, resolveHost, signal);
    for (const address of addresses) checkAddress(url, address, hostPort);
    return { url, host, port: hostPort.port, addresses };
  };
}

/** Parses a URL that a model has written. */
export function parseWebUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url) return url;
  const shown = JSON.stringify(text.slice(0, 200));
  throw refused("params", `${shown} is not a URL; write all of it, such as https://example.org/page`);
}

/** The port of a URL, or the default port of its protocol. */
export function portOf({ port, protocol }: Pick<URL, "port" | "protocol">): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

function checkUrl(url: URL, port: number): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused("params", `only http and https are supported, and this URL begins with ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("params", `the URL of ${url.host} contains a user or password; remove it`);
  }
  if (blockedPorts.has(port)) {
    throw refused("permission", `${url.host} is blocked: port ${port} is not a port of web servers`);
  }
}

async function addressesOf(host: string, resolveHost: ResolveHost, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = await untilAborted(resolveHost(host), signal).catch((error: unknown) => {
    if (signal.aborted) throw signal.reason;
    const isDown = errorCodeOf(error) === "EAI_AGAIN";
    throw notFound(host, isDown ? "the name server did not answer" : "the name does not exist");
  });
  if (addresses.length === 0) throw notFound(host, "the name has no address");
  return addresses;
}

const resolveWithSystem: ResolveHost = async (host) => {
  const entries = await lookup(host, { all: true, order: "verbatim" });
  return entries.map(({ address }) => address);
};

/** A service on this machine may trust every connection from this machine, even on a public address. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address));
}

/** A host that the policy names: `wiki.example.org`, `127.0.0.1:8080`, `[::1]:8080`. */
interface HostRule {
  host: string;
  /** Null: any port. */
  port: number | null;
}

interface HostPort {
  host: string;
  port: number;
}

function requireHostRule(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule) return rule;
  throw new TroupeError("INVALID_POLICY", `web: ${JSON.stringify(text)} is not a host`, {
    fix: "write a host, or host:port, such as wiki.example.org or 127.0.0.1:8080",
  });
}

/** Normalizes the host as the URL parser does: lower case, no final dot, IPv6 in brackets. Null if it is not a host. */
function parseHostRule(text: string): HostRule | null {
  if (isIPv6(text)) return parseHostRule(`[${text}]`);
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const url = /[/?#@\\\s*]/.test(name) ? null : URL.parse(`http://${name}`);
  if (!url?.hostname || Number(port ?? 1) > 65_535) return null;
  return { host: hostOf(url), port: port === undefined ? null : Number(port) };
}

/** The host without its final dot: `example.org.` and `example.org` are the same host. */
function hostOf({ hostname }: Pick<URL, "hostname">): string {
  return hostname.replace(/\.+$/, "");
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

function isExactly(rule: HostRule, { host, port }: HostPort): boolean {
  return rule.host === host && (rule.port === null || rule.port === port);
}

/** True if the rule names the host or a parent domain of it. */
function isWithin(rule: HostRule, { host, port }: HostPort): boolean {
  const isInside = host === rule.host || host.endsWith(`.${rule.host}`);
  return isInside && (rule.port === null || rule.port === port);
}

/** The ports that browsers block because other protocols use them (the list of the Fetch standard). */
const blockedPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

function notPublic(url: URL, address: string, reason: string): RunFailure {
  const verb = withoutBrackets(hostOf(url)) === address ? "is" : `resolves to ${address}, which is`;
  return refused(
    "permission",
    `${url.host} is blocked: it ${verb} not a public address (${reason}). The owner of this machine can allow it: web: {privateHosts: ["${url.host}"]} in policy.yaml`,
  );
}

function deniedHost(url: URL): RunFailure {
  return refused("permission", `${url.host} is blocked: the policy of this machine denies it (web.deny)`);
}

function notFound(host: string, reason: string): RunFailure {
  const message = `${host} cannot be resolved: ${reason}; check its spelling`;
  return new RunFailure({ type: "network", message, recoverable: false });
}

function refused(type: "params" | "permission", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
