import { createHash } from "node:crypto";

/** A secret of a test, told where it was told. */
export interface Canary {
  place: string;
  value: string;
  /** The variable of the daemon that holds it; null for one that is known by its shape alone. */
  variable: string | null;
}

/** Secrets of many kinds, each its own and the same in every run. */
export function createCanaries() {
  const all: Canary[] = [];
  const digest = (place: string): Buffer => createHash("sha512").update(`canary ${place}`).digest();
  const add = (place: string, value: string, variable: string | null): string => {
    if (all.some((canary) => canary.place === place)) throw new Error(`two canaries at ${place}`);
    all.push({ place, value, variable });
    return value;
  };
  return {
    all,
    /** In a variable of the daemon: a key, a password with odd characters, or hex, in turn. */
    known(place: string): string {
      const text = digest(place).toString("base64url").slice(0, 28);
      const odd = `p4/${text.slice(0, 9)}+"w\\rd" &é=${text.slice(9, 15)}`;
      const value = [`key-${text}`, odd, digest(place).toString("hex").slice(0, 40), `k ${text}`][all.length % 4];
      return add(place, value ?? "", `CANARY_${all.length}_SECRET`);
    },
    /** The same without a character that a shell, a path or an address would take for its own. */
    plain: (place: string): string =>
      add(place, `plain-${digest(place).toString("base64url").slice(0, 28)}`, `CANARY_${all.length}_TOKEN`),
    /** In no variable: it looks like what it is. */
    shaped(place: string, shape: (random: string) => string): string {
      const random = digest(place).toString("base64").replaceAll(/[+/=]/g, "");
      return add(place, shape(`${random}a1B2`), null);
    },
    env: (): Record<string, string> =>
      Object.fromEntries(all.flatMap(({ variable, value }) => (variable ? [[variable, value]] : []))),
  };
}

/** Everything that a canary may have been turned into. */
export function traces({ value, variable }: Canary): Buffer[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  // The encoded value alone, and inside longer data: of the latter only the characters that the neighbours do not
  // change.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice([0, 2, 3][before])
      .replace(/=+$/, "")
      .slice(0, -1),
  );
  const texts = [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    ...(variable === null
      ? []
      : [
          encodeURIComponent(value),
          new URLSearchParams({ value }).toString().slice("value=".length),
          bytes.toString("hex"),
          bytes.toString("hex").toUpperCase(),
          ...base64,
          ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
        ]),
  ];
  return [...new Set(texts)].map((text) => Buffer.from(text));
}
