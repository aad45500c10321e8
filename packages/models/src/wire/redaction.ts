import type { ProviderSettings } from "../settings.ts";

/** Shorter ones are found in any text. */
const secretCharactersMin = 6;

/** How OpenAI shows what it thinks is a key, half hidden; what is left of it is nobody's business either. */
const halfHidden = /\b(sk|pk|key)-[\w*.-]{4,}/g;

const userAndPassword = /\/\/[^/@\s]+@/g;

/**
 * Takes what nobody may read out of a server's words: the key, however it echoes it, and whatever else was sent to it
 * that only the two of them know.
 */
export function redactorOf(settings: ProviderSettings): (text: string) => string {
  const secrets = secretsOf(settings);
  return (text) =>
    secrets
      .reduce((words, secret) => words.replaceAll(secret, "[key]"), text)
      .replaceAll(halfHidden, "[key]")
      .replaceAll(userAndPassword, "//");
}

function secretsOf({ key, authToken, headers, baseUrl }: ProviderSettings): string[] {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  const inUrl = url ? [url.username, url.password, ...url.searchParams.values()] : [];
  const inHeaders = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const sent = [key ?? "", authToken ?? "", ...inHeaders, ...inUrl];
  const forms = sent.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  const long = forms.filter((secret) => secret.length >= secretCharactersMin);
  return [...new Set(long)].sort((a, b) => b.length - a.length);
}

/** An address that can be shown: without user, password and query. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed?.host) return `${parsed.protocol}//${parsed.host}${parsed.pathname.replace(/\/$/, "")}`;
  return JSON.stringify(url.replaceAll(userAndPassword, "//").replace(/\?.*$/s, ""));
}
