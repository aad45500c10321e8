import { singleText } from "./evaluate-line.ts";
import type { EffectScope, EffectTarget } from "./file-target.ts";
import { literal, type ShellFields } from "./shell-fields.ts";

/**
 * The effects of `find`. It deletes the files below its folders, with `-delete` or with a command that it starts.
 *
 * @param targetsOf evaluates a command that it starts, and returns its targets
 */
export function findEffects(scope: EffectScope, targetsOf: (words: readonly ShellFields[]) => EffectTarget[]): void {
  const start = scope.args.findIndex((arg) => startsExpression(singleText(arg)));
  const before = start < 0 ? scope.args : scope.args.slice(0, start);
  const expression = start < 0 ? [] : scope.args.slice(start);
  const written = expression.filter((_, index) =>
    /^-f(print0?|printf|ls)$/.test(singleText(expression[index - 1] ?? null) ?? ""),
  );
  addAll(scope, written, { reach: "file" });
  const started = commandsIn(expression).flatMap(targetsOf);
  // A target without a name is a found file.
  for (const target of started) if (target.field !== null) scope.add(target);
  const deletes = expression.some((arg) => arg === null || singleText(arg) === "-delete");
  if (!deletes && !started.some(({ field }) => field === null)) return;
  const names = plainNames(expression);
  const roots = before.filter((arg) => !singleText(arg)?.startsWith("-"));
  addAll(scope, roots.length > 0 ? roots : [[literal(".")]], { reach: "tree", ...(names ? { names } : {}) });
}

function addAll(
  { add }: EffectScope,
  all: readonly ShellFields[],
  target: Omit<EffectTarget, "field" | "folders">,
): void {
  for (const fields of all) for (const field of fields ?? [null]) add({ ...target, field });
}

function startsExpression(text: string | null): boolean {
  return text !== null && /^([-(!]|\\\()/.test(text) && !/^-[HLPDO]/.test(text);
}

/** The commands of `-exec`, with an unknown word for the name of the found file. */
function commandsIn(expression: readonly ShellFields[]): ShellFields[][] {
  return expression.flatMap((arg, index) => {
    if (!/^-(exec|execdir|ok|okdir)$/.test(singleText(arg) ?? "")) return [];
    const rest = expression.slice(index + 1);
    const end = rest.findIndex((each) => /^(;|\+)$/.test(singleText(each) ?? ""));
    const words = end < 0 ? rest : rest.slice(0, end);
    return [words.map((each) => (each?.some(({ text }) => text.includes("{}")) ? null : each))];
  });
}

/** The patterns of `-name`, if the expression is a plain list of tests, all of which a file has to pass. */
function plainNames(expression: readonly ShellFields[]): string[] | null {
  const texts = expression.map(singleText);
  if (
    texts.some(
      (text) =>
        text === "-o" || text === "-or" || text === "!" || text === "-not" || text === "," || text?.includes("("),
    )
  )
    return null;
  const at = texts.findIndex((text) => text === "-name" || text === "-iname");
  const pattern = at < 0 ? null : (texts[at + 1] ?? null);
  const action = texts.findIndex((text) => text !== null && /^-(delete|exec|execdir|ok|okdir)$/.test(text));
  return pattern === null || at > action ? null : [texts[at] === "-iname" ? "*" : pattern];
}
