import { singleText } from "./evaluate-line.ts";
import { literal, type ShellFields } from "./shell-fields.ts";

/** Arguments that are not options, with the values of some options. */
export interface Operands {
  paths: readonly ShellFields[];
  /** Options as given: `-rf`, `--force`. */
  options: readonly string[];
  /** The value of an option that is read with the pattern. */
  valueOf(pattern: RegExp): ShellFields | undefined;
}

export function operandsOf(args: readonly ShellFields[], valued: RegExp = /^$/): Operands {
  const paths: ShellFields[] = [];
  const options: string[] = [];
  const values: [string, ShellFields][] = [];
  let isOver = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? null;
    const text = singleText(arg);
    if (isOver || text === null || !text.startsWith("-") || text === "-") paths.push(arg);
    else if (text === "--") isOver = true;
    else {
      const [name = "", ...value] = text.split("=");
      options.push(text);
      if (!valued.test(name)) continue;
      if (text.includes("=")) values.push([name, [literal(value.join("="))]]);
      else {
        at += 1;
        values.push([name, args[at] ?? null]);
      }
    }
  }
  return { paths, options, valueOf: (pattern) => values.find(([name]) => pattern.test(name))?.[1] };
}

/** Whether an option is given, alone or in a group: `-rf`. */
export const has = ({ options }: Operands, short: string, long: RegExp = /^$/): boolean =>
  options.some((option) =>
    option.startsWith("--") ? long.test(option) : short !== "" && option.slice(1).includes(short),
  );
