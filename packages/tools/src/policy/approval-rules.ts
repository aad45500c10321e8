import { readFile } from "node:fs/promises";
import { type ToolCall, TroupeError } from "@troupe/core";
import {
  ApprovalRule,
  type ApprovalRules,
  allowsCommands,
  canonicalJson,
  couldMatchCommands,
  errorCodeOf,
  hashArguments,
  isAliasOf,
  patternsOf,
  type RuleScope,
  type SimpleCommand,
} from "@troupe/core/internal";
import { z } from "zod";
import { writeFileAtomic } from "../disk/atomic-write.ts";

/** Limit of stored rules: a user cannot oversee more. */
const rulesMax = 1_000;

const RulesFile = z.strictObject({ version: z.literal(1), rules: z.array(ApprovalRule) });

/**
 * Opens the approval rules in a file, which is created with the first rule. Throws `INVALID_POLICY` for a damaged file
 * and does not change it, so that no decision of the user is lost.
 *
 * Changes run one after the other, and each starts from the file on disk.
 *
 * @example
 * const rules = await openApprovalRules({ file: "/home/me/.local/share/troupe/rules.json" });
 * console.log(rules.list().length);
 */
export async function openApprovalRules({ file }: { file: string }): Promise<ApprovalRules> {
  let rules = await readRules(file);
  let changes: Promise<unknown> = Promise.resolve();

  const change = <T>(apply: (known: readonly ApprovalRule[]) => { rules: readonly ApprovalRule[]; result: T }) => {
    const changed = changes.then(async () => {
      const known = await readRules(file);
      const next = apply(known);
      if (next.rules !== known) await writeRules(file, next.rules);
      rules = next.rules;
      return next.result;
    });
    // The caller of a failed change gets the error; the next change still runs.
    changes = changed.catch(() => {});
    return changed;
  };

  return {
    list: () => rules,
    match: (call, scope, commands = null) => matchRule(rules, call, { ...scope, commands }),
    add: (rule) =>
      change((known) => {
        const same = known.find((each) => isSameRule(each, rule));
        if (same && isSameContent(same, rule)) return { rules: known, result: same };
        if (same) return { rules: known.map((each) => (each === same ? rule : each)), result: rule };
        if (known.length >= rulesMax) throw tooMany(file);
        return { rules: [...known, rule], result: rule };
      }),
    remove: (id) =>
      change((known) => {
        const found = known.find((each) => each.id === id) ?? null;
        return { rules: found ? known.filter((each) => each !== found) : known, result: found };
      }),
  };
}

interface CallScope extends RuleScope {
  commands: readonly SimpleCommand[] | null;
}

function matchRule(
  rules: readonly ApprovalRule[],
  { name, args }: Pick<ToolCall, "name" | "args">,
  { workspace, agent, commands }: CallScope,
): ApprovalRule | null {
  const near = rules.filter((rule) => rule.workspace === workspace && (rule.agent === null || rule.agent === agent));
  if (near.length === 0) return null;
  const argsHash = hashArguments(args);
  const fitting = near.filter(
    (rule) => namesTool(rule, name) && (rule.argsHash === null || rule.argsHash === argsHash),
  );
  const patternsIn = (decision: ApprovalRule["decision"]) =>
    near.filter((rule) => rule.decision === decision && patternsOf([rule.tool], name).length > 0);
  const denied = patternsIn("deny").find((rule) => couldMatchCommands(patternsOf([rule.tool], name), commands));
  const allowed = patternsIn("allow");
  // Several rules can allow the commands of one line.
  const allPatterns = patternsOf(
    allowed.map(({ tool }) => tool),
    name,
  );
  const isAllowed = allowsCommands(allPatterns, commands);
  const denial = fitting.find(({ decision }) => decision === "deny") ?? denied;
  return denial ?? fitting[0] ?? (isAllowed ? (allowed[0] ?? null) : null);
}

/** A denial may use any alias of the tool. A rule that allows must use the tool's own name. */
function namesTool({ tool, decision }: ApprovalRule, name: string): boolean {
  return tool === name || (decision === "deny" && isAliasOf(tool, name));
}

function isSameRule(a: ApprovalRule, b: ApprovalRule): boolean {
  const sayingOf = ({ decision, tool, argsHash, workspace, agent }: ApprovalRule) =>
    canonicalJson([decision, tool, argsHash, workspace, agent]);
  return sayingOf(a) === sayingOf(b);
}

/** Whether two rules are for the same content of the files that the call runs. */
function isSameContent({ bound: one }: ApprovalRule, { bound: other }: ApprovalRule): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}

async function readRules(file: string): Promise<readonly ApprovalRule[]> {
  try {
    return RulesFile.parse(JSON.parse(await readFile(file, "utf8"))).rules;
  } catch (cause) {
    if (errorCodeOf(cause) === "ENOENT") return [];
    throw new TroupeError("INVALID_POLICY", `the approval rules in ${file} cannot be read: ${messageOf(cause)}`, {
      fix: `correct it, or start without rules: mv ${file} ${file}.damaged`,
      cause,
    });
  }
}

async function writeRules(file: string, rules: readonly ApprovalRule[]): Promise<void> {
  const content: z.input<typeof RulesFile> = { version: 1, rules: [...rules] };
  const text = `${JSON.stringify(content, null, 2)}\n`;
  try {
    await writeFileAtomic(file, Buffer.from(text), { mode: 0o600 });
  } catch (cause) {
    throw new TroupeError("HOME_UNWRITABLE", `the rule could not be written to ${file}: ${messageOf(cause)}`, {
      fix: "free disk space or make the folder writable, then try again",
      cause,
    });
  }
}

function messageOf(cause: unknown): string {
  if (cause instanceof z.ZodError) {
    const [issue] = cause.issues;
    return `${issue?.path.join(".") || "the file"}: ${issue?.message ?? "does not fit"}`;
  }
  return cause instanceof Error ? cause.message : String(cause);
}

function tooMany(file: string): TroupeError {
  return new TroupeError("LIMIT_REACHED", `${file} already holds the maximum of ${rulesMax} rules`, {
    fix: "troupe rules ls, then troupe rules rm ID for rules that you no longer need",
  });
}
