import { isIPv6 } from "node:net";

/** A host that the policy names: `wiki.example.org`, `127.0.0.1:8080`, `[::1]:8080`. */
export interface HostRule {
  host: string;
  /** Null: any. */
  port: number | null;
}

/** Null where a text names no host. Hosts are written as URLs write them: lower case, no last dot, IPv6 in brackets. */
export function parseHostRule(text: string): HostRule | null {
  if (isIPv6(text)) return parseHostRule(`[${text}]`);
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const url = /[/?#@\\\s*]/.test(name) ? null : URL.parse(`http://${name}`);
  if (!url?.hostname || Number(port ?? 1) > 65_535) return null;
  return { host: hostOf(url), port: port === undefined ? null : Number(port) };
}

/** `example.org.` and `example.org` are one host. */
export function hostOf({ hostname }: Pick<URL, "hostname">): string {
  return hostname.replace(/\.+$/, "");
}

/** The port that a URL means, said or not. */
export function portOf({ port, protocol }: Pick<URL, "port" | "protocol">): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Whether a rule names just this host. */
export function isExactly({ host, port }: HostRule, asked: { host: string; port: number }): boolean {
  return host === asked.host && (port === null || port === asked.port);
}

/** Whether a rule names this host or a domain that it is in. */
export function isWithin({ host, port }: HostRule, asked: { host: string; port: number }): boolean {
  const within = asked.host === host || asked.host.endsWith(`.${host}`);
  return within && (port === null || port === asked.port);
}
