import { RunFailure } from "@troupe/core";

/** A name as a model asks for it: `member` alone, or of a `container`. */
export interface AskedName {
  member: string;
  container: string | null;
}

const word = /^[#@]?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*[?!]?$/u;

/** Takes `Class.method`, `Type::method`, `Class#method` and `name()`. Throws a `RunFailure` for what is no name. */
export function askedName(name: string): AskedName {
  const parts = name
    .trim()
    .replace(/\(\)$/, "")
    .split(/\.|::|->|(?<=.)#/);
  if (parts.length === 0 || parts.some((part) => !word.test(part))) throw noName(name);
  const bare = parts.map((part) => part.replace(/^@/, "").replace(/[?!]$/, ""));
  return { member: bare.at(-1) ?? "", container: bare.length > 1 ? bare.slice(0, -1).join(".") : null };
}

/** Whether a definition's container is the one that was asked for, or its end is. */
export function isIn(container: string | null, asked: string | null): boolean {
  return asked === null || container === asked || (container?.endsWith(`.${asked}`) ?? false);
}

function noName(name: string): RunFailure {
  return new RunFailure({
    type: "params",
    message:
      `${JSON.stringify(name.slice(0, 100))} is no name of something in code; give one such as createUser or ` +
      "UserStore.create, and use the search tool for any other text",
    recoverable: false,
  });
}
