import { createRedactor } from "@troupe/core";
import type { ProviderSettings } from "../settings.ts";

/** Shorter secrets would match parts of ordinary text. */
const secretCharactersMin = 6;

/** A key that OpenAI quotes half hidden. */
const partlyHiddenKey = /\b(sk|pk|key)-[\w*.-]{4,}/g;

const userAndPassword = /\/\/[^/@\s]+@/g;

/** Creates a function that removes the key and all other secrets of these settings from a server's text. */
export function redactorOf(settings: ProviderSettings): (text: string) => string {
  const secrets = secretsOf(settings);
  return (text) =>
    secrets
      .reduce((redacted, secret) => redacted.replaceAll(secret, "[key]"), text)
      .replaceAll(partlyHiddenKey, "[key]")
      .replaceAll(userAndPassword, "//");
}

function secretsOf({ key, authToken, headers, baseUrl }: ProviderSettings): string[] {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  const inUrl = url ? [url.username, url.password, ...url.searchParams.values()] : [];
  const inHeaders = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const all = [key ?? "", authToken ?? "", ...inHeaders, ...inUrl];
  const encoded = all.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  const long = encoded.filter((secret) => secret.length >= secretCharactersMin);
  return [...new Set(long)].sort((a, b) => b.length - a.length);
}

/** A URL for messages: without user, password and query. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed?.host) return `${parsed.protocol}//${parsed.host}${parsed.pathname.replace(/\/$/, "")}`;
  return JSON.stringify(url.replaceAll(userAndPassword, "//").replace(/\?.*$/s, ""));
}

const redactor = createRedactor();

/**
 * Prefixes of vendors' keys. The lengths are shorter than those of the redactor: a suspicion is enough to warn a person
 * before a key is stored.
 */
const keyPrefixes = [
  /\b(sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|nvapi|pplx|tgp|csk|fw|r8)[-_][A-Za-z0-9_-]{8,}/,
  /\bAIza[\w-]{8,}/,
  /\bBearer\s+\S{8,}/i,
  /\beyJ[\w-]{10,}\./,
];

/** A long run of mixed letters and digits, unlike any ordinary name. */
const randomText = /[A-Za-z0-9+_]{32,}={0,2}/g;

/**
 * Whether a text may contain a key, and so should be neither stored nor shown. It is a guess and can be wrong both ways.
 *
 * @example
 * looksLikeKey("sk-ant-api03-abcdefgh"); // true
 * looksLikeKey("ANTHROPIC_API_KEY"); // false
 */
export function looksLikeKey(text: string): boolean {
  if (redactor.text(text) !== text || keyPrefixes.some((prefix) => prefix.test(text))) return true;
  return [...text.matchAll(randomText)].some(([run]) => /\d/.test(run) && /[A-Za-z]/.test(run) && /[a-z\d]/.test(run));
}

/**
 * A text in quotes for messages, or a placeholder when it may be a key.
 *
 * @example
 * quoted("gpt-5"); // '"gpt-5"'
 */
export function quoted(text: string): string {
  return looksLikeKey(text) ? "(hidden: it looks like a key)" : JSON.stringify(text);
}
