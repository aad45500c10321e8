import type { Secret } from "@troupe/core";

/** The fields of `ProviderSettings` (`@troupe/models`) that may hold a secret. */
export interface ProviderSecrets {
  id: string;
  baseUrl: string | null;
  key: string | null;
  authToken: string | null;
  keyVariable: string | null;
  headers: Readonly<Record<string, string>>;
}

export interface SecretSources {
  env: NodeJS.ProcessEnv;
  providers?: readonly ProviderSecrets[];
  /** Known to be secret, whatever they look like: the token of the home. */
  others?: readonly Secret[];
}

/**
 * The values that must never be written: those of variables whose names say so, passwords in addresses, the keys of all
 * providers. Left out is what is no secret, whatever its variable is called: words that stand for a key, numbers, paths,
 * and what is part of a name that everybody sees.
 *
 * @example
 * createRedactor({ values: secretsOf({ env: process.env }) });
 */
export function secretsOf({ env, providers = [], others = [] }: SecretSources): Secret[] {
  const told = [
    ...others,
    ...providers.flatMap(secretsOfProvider),
    ...Object.entries(env).flatMap(([name, value]) => secretsOfVariable(name, value?.trim() ?? "")),
  ];
  const seen = publicText(env);
  const known = new Set<string>();
  return told.filter(({ value }) => {
    if (known.has(value) || isNoSecret(value) || seen.includes(value)) return false;
    known.add(value);
    return true;
  });
}

function secretsOfProvider({ id, baseUrl, key, authToken, keyVariable, headers }: ProviderSecrets): Secret[] {
  const name = keyVariable ?? `${id} key`;
  const told = [key, authToken].filter((value) => value !== null).map((value) => ({ name, value }));
  const sent = Object.entries(headers).flatMap(([header, value]) => {
    const token = value.replace(/^(?:bearer|basic|token)\s+/i, "");
    return saysSecret(header) || token !== value ? [{ name: `${id} ${header}`, value: token }] : [];
  });
  return [...told, ...sent, ...passwordsIn(`${id} address`, baseUrl ?? "")];
}

function secretsOfVariable(name: string, value: string): Secret[] {
  if (isAddress(value)) {
    const isWhole = /SECRET|PASSW|TOKEN|CREDENTIAL/i.test(name);
    return [...passwordsIn(name, value), ...(isWhole ? [{ name, value }] : [])];
  }
  return saysSecret(name) ? [{ name, value }] : [];
}

const anywhere =
  /passw(?:or)?d|passphrase|secret|token(?!iz)|credential|api_?key|access_?key|private_?key|cookie(?!cutter)/i;
const asWord = /(?:^|[_-])(?:key|keys|auth|authorization|pass|pat|dsn|pwd)(?:[_-]|$)|[a-z]Key$|KEY$/;
/** The folder that somebody works in, and the one before. */
const workingFolder = /^(?:OLD)?PWD$/;

function saysSecret(name: string): boolean {
  if (workingFolder.test(name)) return false;
  return anywhere.test(name) || asWord.test(name) || asWord.test(name.toLowerCase());
}

function isAddress(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** As it stands in the address, and as it is meant. A user without a password is one where a key would stand. */
function passwordsIn(name: string, address: string): Secret[] {
  const [, user = "", password = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^\s:/?#]*)(?::([^\s/?#]*))?@/i.exec(address) ?? [];
  const written = password || (/DSN$/i.test(name) ? user : "");
  return [...new Set([written, decoded(written)])].filter(Boolean).map((value) => ({ name, value }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What is written where a key is wanted and there is none, and other words that are no secret for anybody. */
const words = new Set(
  (
    "required optional disabled enabled anonymous password passphrase changeme change-me placeholder undefined " +
    "lm-studio not-needed no-key-required sk-no-key-required your-api-key your_api_key development production " +
    "postgres postgresql localhost keychain keyring osxkeychain publickey basic-auth"
  ).split(" "),
);

const lengthMin = 8;
const differentCharactersMin = 4;

function isNoSecret(value: string): boolean {
  if (value.length < lengthMin || words.has(value.toLowerCase())) return true;
  if (new Set(value).size < differentCharactersMin) return true;
  return isNumber(value) || isPath(value);
}

function isNumber(value: string): boolean {
  return /^[\d.,:_-]{1,15}$/.test(value);
}

/** A key in base64 may begin with a slash, but not with a folder that every machine has. */
function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})\/|^[A-Za-z]:\\|^\/(?:home|users|root|tmp|private|var|etc|usr|opt|run|mnt|srv|dev|proc|app|data|nix|snap|work|workspaces?|library|applications|volumes|media)(?:\/|$)/i.test(
    value,
  );
}

/** What of this machine everybody may see, and what an agent sees all the time. */
function publicText(env: NodeJS.ProcessEnv): string {
  const names = ["HOME", "USER", "LOGNAME", "USERNAME", "PWD", "PATH", "SHELL", "HOSTNAME", "LANG", "TERM"];
  return [...names, "TROUPE_HOME", "TROUPE_MODEL", "XDG_DATA_HOME"].map((name) => env[name] ?? "").join("\n");
}
