import { singleText } from "./evaluate-line.ts";
import type { ShellFields } from "./shell-fields.ts";

export interface Wrapper {
  /** Options whose value is the next argument. */
  values?: readonly string[];
  /** Arguments before the command. */
  positions?: number;
  /** Adds words from its input. */
  adds?: true;
}

/** Programs that start the command in their arguments. */
const wrapperTable: Readonly<Record<string, Wrapper>> = {
  env: { values: ["-u", "--unset", "-C", "--chdir"] },
  sudo: { values: ["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t"] },
  doas: { values: ["-u", "-C"] },
  timeout: { values: ["-s", "--signal", "-k", "--kill-after"], positions: 1 },
  nice: { values: ["-n", "--adjustment"] },
  ionice: { values: ["-c", "-n", "-p"] },
  nohup: {},
  setsid: {},
  stdbuf: { values: ["-i", "-o", "-e"] },
  time: { values: ["-f", "-o"] },
  command: {},
  builtin: {},
  exec: { values: ["-a"] },
  busybox: {},
  toybox: {},
  unshare: {},
  strace: { values: ["-e", "-o", "-p"] },
  flock: { positions: 1 },
  chroot: { positions: 1 },
  npx: { values: ["-p", "--package"] },
  bunx: {},
  pnpx: {},
  shx: {},
  xargs: { values: ["-n", "-P", "-I", "-L", "-d", "-a", "-s", "-E"], adds: true },
  parallel: { values: ["-j", "--jobs"], adds: true },
};
export const wrappers: ReadonlyMap<string, Wrapper> = new Map(Object.entries(wrapperTable));

/** The command behind a wrapper: after the wrapper's own options and arguments. Null if it cannot be told. */
export function wrappedCommand(
  name: string,
  wrapper: Wrapper,
  args: readonly ShellFields[],
): readonly ShellFields[] | null {
  const { values = [], positions = 0, adds = false } = wrapper;
  let at = 0;
  let skipped = 0;
  for (; at < args.length; at += 1) {
    const text = singleText(args[at] ?? null);
    // The text of `env -S` is split into words.
    if (name === "env" && /^(-\w*S|--split-string)/.test(text ?? "")) return null;
    const isOwn = text === "--" || isOption(text) || (name === "env" && text !== null && /^\w+=/.test(text));
    if (!isOwn && skipped >= positions) break;
    if (!isOwn) skipped += 1;
    else if (text !== null && values.includes(text)) at += 1;
  }
  const rest = args.slice(at);
  return adds && rest.length > 0 ? [...rest, null] : rest;
}

const isOption = (text: string | null): boolean => text?.startsWith("-") === true && text !== "-";
