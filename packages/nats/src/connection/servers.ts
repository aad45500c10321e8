import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { TroupeError } from "@troupe/core";

/** Server addresses as the client library takes them, and the credentials that they contained. */
export interface NatsServers {
  urls: string[];
  credentials: { user?: string; pass?: string; token?: string };
  /** True if an address says `tls://`: then no connection is made without TLS. */
  isSecure: boolean;
  /** All addresses without credentials, for messages and logs. */
  redactedUrl: string;
}

/**
 * Parses NATS addresses. The client library does not understand credentials inside an address.
 *
 * Throws `USAGE` for an address that is not valid.
 *
 * @example
 * toNatsServers("nats://alice:secret@hub").urls; // ["nats://hub:4222"]
 */
export function toNatsServers(addresses: string | readonly string[]): NatsServers {
  const parsed = [addresses]
    .flat()
    .flatMap((text) => text.split(","))
    .map((text) => parseServer(text.trim()));
  const urls = parsed.map((url) => `${url.protocol}//${url.host}`);
  const credentials = parsed.map(credentialsIn).find((found) => Object.keys(found).length > 0) ?? {};
  const isSecure = parsed.some(({ protocol }) => protocol === "tls:");
  return { urls, credentials, isSecure, redactedUrl: urls.join(", ") };
}

function parseServer(text: string): URL {
  const url = URL.parse(text.includes("://") ? text : `nats://${text}`);
  const isDecodableUrl = url !== null && [url.username, url.password].every(isDecodable);
  if (isDecodableUrl && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "") {
    if (url.port === "") url.port = "4222";
    return url;
  }
  throw new TroupeError("USAGE", `${JSON.stringify(text.replace(/\/\/.*@/, "//…@"))} is not a NATS address`, {
    fix: "give one such as nats://127.0.0.1:4222",
  });
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

function credentialsIn({ username, password }: URL): NatsServers["credentials"] {
  if (username === "") return {};
  const user = decodeURIComponent(username);
  return password === "" ? { token: user } : { user, pass: decodeURIComponent(password) };
}

/** The client library checks the certificate of a server with an IP address against this name. */
const nameOfIpAddresses = "localhost";

/**
 * A certificate check that accepts IP addresses: the client library would require the name `localhost` for them. If
 * several addresses are IP addresses, the certificate may name any of them.
 *
 * @param discovered addresses, without a scheme, that the cluster has announced
 * @returns null if the library's own check is sufficient
 */
export function identityCheck(urls: readonly string[], discovered: () => readonly string[] = () => []) {
  const hosts = urls.map(hostOf);
  const ipAddresses = hosts.filter(isIpAddress);
  if (ipAddresses.length === 0) return null;
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const isOfIpAddress = name === nameOfIpAddresses && !hosts.includes(nameOfIpAddresses);
    const discoveredHosts = discovered().map((address) => hostOf(`nats://${address}`));
    const names = isOfIpAddress ? [...ipAddresses, ...discoveredHosts.filter(isIpAddress)] : [name];
    const problems = names.map((each) => checkServerIdentity(each, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function isIpAddress(host: string): boolean {
  return isIP(host) !== 0;
}
