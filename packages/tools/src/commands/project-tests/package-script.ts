/** A package script that starts one program. */
export interface ScriptWords {
  env: Record<string, string>;
  program: string;
  args: string[];
}

const launchers: readonly string[] = ["npx", "pnpx", "bunx", "cross-env", "exec"];

/** Parses a script; null if it starts more than one program or needs a shell. */
export function scriptWords(script: string): ScriptWords | null {
  if (/[&|;<>$`()\\\n]/.test(script)) return null;
  const words = [...script.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/["']/g, ""));
  const env: Record<string, string> = {};
  for (const [i, word] of words.entries()) {
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    if (assignment?.[1] !== undefined) env[assignment[1]] = assignment[2] ?? "";
    else if (!launchers.includes(word)) return { env, program: word, args: words.slice(i + 1) };
  }
  return null;
}

/** The options, without the files to test, which the caller chooses. A word after an option counts as its value. */
export function optionsOnly(args: readonly string[]): string[] {
  return args.filter((arg, i) => {
    const before = args[i - 1];
    const isValue = before?.startsWith("-") === true && !before.includes("=");
    return arg.startsWith("-") || isValue;
  });
}
