import type { Secret } from "@troupe/core";

/** The fields of `ProviderSettings` in `@troupe/models` that can hold a secret. */
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
  /** Further secrets, such as the token of the home. */
  others?: readonly Secret[];
}

/**
 * Collects the values that must never be written: environment variables whose names sound secret, passwords in URLs,
 * and the keys of all providers. Harmless values are left out: placeholder words, numbers, paths, and text that is part
 * of a public name such as the user name.
 *
 * @example
 * const redact = createRedactor({ values: secretsOf({ env: process.env }) });
 */
export function secretsOf({ env, providers = [], others = [] }: SecretSources): Secret[] {
  const candidates = [
    ...others,
    ...providers.flatMap(secretsOfProvider),
    ...Object.entries(env).flatMap(([name, value]) => secretsOfVariable(name, value?.trim() ?? "")),
  ];
  const publicNames = publicText(env);
  const known = new Set<string>();
  return candidates.filter(({ value }) => {
    if (known.has(value) || isHarmless(value) || publicNames.includes(value)) return false;
    known.add(value);
    return true;
  });
}

function secretsOfProvider({ id, baseUrl, key, authToken, keyVariable, headers }: ProviderSecrets): Secret[] {
  const name = keyVariable ?? `${id} key`;
  const keys = [key, authToken].filter((value) => value !== null).map((value) => ({ name, value }));
  const fromHeaders = Object.entries(headers).flatMap(([header, value]) => {
    const token = value.replace(/^(?:bearer|basic|token)\s+/i, "");
    return soundsSecret(header) || token !== value ? [{ name: `${id} ${header}`, value: token }] : [];
  });
  return [...keys, ...fromHeaders, ...passwordsIn(`${id} address`, baseUrl ?? "")];
}

function secretsOfVariable(name: string, value: string): Secret[] {
  if (isUrl(value)) {
    const isSecretWhole = /SECRET|PASSW|TOKEN|CREDENTIAL/i.test(name);
    return [...passwordsIn(name, value), ...(isSecretWhole ? [{ name, value }] : [])];
  }
  return soundsSecret(name) ? [{ name, value }] : [];
}

const secretWordAnywhere =
  /passw(?:or)?d|passphrase|secret|token(?!iz)|credential|api_?key|access_?key|private_?key|cookie(?!cutter)/i;
const secretWholeWord = /(?:^|[_-])(?:key|keys|auth|authorization|pass|pat|dsn|pwd)(?:[_-]|$)|[a-z]Key$|KEY$/;
/** `PWD` and `OLDPWD` name folders; elsewhere `PWD` means password. */
const workingFolder = /^(?:OLD)?PWD$/;

function soundsSecret(name: string): boolean {
  if (workingFolder.test(name)) return false;
  return secretWordAnywhere.test(name) || secretWholeWord.test(name) || secretWholeWord.test(name.toLowerCase());
}

function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** The password of a URL as written and percent-decoded. In a DSN a user without a password is the key itself. */
function passwordsIn(name: string, url: string): Secret[] {
  const [, user = "", password = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^\s:/?#]*)(?::([^\s/?#]*))?@/i.exec(url) ?? [];
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

/** Placeholders that people write instead of a key, and other words that are not secret. */
const harmlessWords = new Set(
  (
    "required optional disabled enabled anonymous password passphrase changeme change-me placeholder undefined " +
    "lm-studio not-needed no-key-required sk-no-key-required your-api-key your_api_key development production " +
    "postgres postgresql localhost keychain keyring osxkeychain publickey basic-auth"
  ).split(" "),
);

const lengthMin = 8;
const differentCharactersMin = 4;

function isHarmless(value: string): boolean {
  if (value.length < lengthMin || harmlessWords.has(value.toLowerCase())) return true;
  if (new Set(value).size < differentCharactersMin) return true;
  return isNumber(value) || isPath(value);
}

function isNumber(value: string): boolean {
  return /^[\d.,:_-]{1,15}$/.test(value);
}

/** A base64 key can start with a slash, so a path must start with a folder that machines usually have. */
function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})\/|^[A-Za-z]:\\|^\/(?:home|users|root|tmp|private|var|etc|usr|opt|run|mnt|srv|dev|proc|app|data|nix|snap|work|workspaces?|library|applications|volumes|media)(?:\/|$)/i.test(
    value,
  );
}

/** Values that are public on this machine, or that every agent sees. */
function publicText(env: NodeJS.ProcessEnv): string {
  const names = ["HOME", "USER", "LOGNAME", "USERNAME", "PWD", "PATH", "SHELL", "HOSTNAME", "LANG", "TERM"];
  return [...names, "TROUPE_HOME", "TROUPE_MODEL", "XDG_DATA_HOME"].map((name) => env[name] ?? "").join("\n");
}
