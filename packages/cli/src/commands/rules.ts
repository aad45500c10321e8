import type { ApprovalRule } from "@troupe/core/internal";
import { checkIsFolder } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { argumentLines } from "../render/approval.ts";
import { cleanLine, jsonLine, visibleJson } from "../render/clean.ts";
import { formatDuration, shortIds } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { withControl } from "../session/control.ts";
import { joinOwner } from "../session/join-or-start.ts";
import { resolveRule } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe rules ls`: lists the approval rules of this machine. */
export async function listRules(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const rules = await storedRules(cli);
  if (flags.json) out.line(jsonLine(rules));
  else if (rules.length === 0) err.line("no rules yet; to store one: troupe approvals approve ID --always");
  else for (const line of tableOf(rules, { out, now: cli.now() })) out.line(line);
  return 0;
}

/** `troupe rules rm`: removes a rule. */
export async function removeRule(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const id = resolveRule(await storedRules(cli), given);
  const rule = await withControl(cli, (control) => control.removeRule(id));
  cli.terminal.out.line(flags.json ? jsonLine(rule) : `removed ${rule.id}: ${describeRule(rule)}`);
  return 0;
}

async function storedRules(cli: Cli): Promise<ApprovalRule[]> {
  await checkIsFolder(cli.home);
  const connection = await joinOwner(cli);
  return connection ? connection.client.rules() : cli.composition.readRules(cli.home);
}

function tableOf(rules: readonly ApprovalRule[], { out, now }: { out: Output; now: number }): string[] {
  const { colours } = out;
  const short = shortIds(rules.map((rule) => rule.id));
  const heads = ["RULE", "SAYS", "TOOL", "AGENT", "BY", "AGE"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = rules.map((rule): Cell[] => [
    { text: short(rule.id), paint: colours.bold },
    { text: rule.decision, paint: rule.decision === "allow" ? colours.green : colours.red },
    { text: cleanLine(rule.tool) },
    { text: rule.agent === null ? "any" : cleanLine(rule.agent) },
    { text: cleanLine(rule.by) },
    { text: formatDuration(now - Date.parse(rule.createdAt)), paint: colours.dim },
  ]);
  const [first = "", ...lines] = layout([{}, {}, {}, {}, { flexible: true }, {}], [head, ...body], out.width);
  return [first, ...rules.flatMap((rule, i) => [lines[i] ?? "", ...reachOf(rule, out)])];
}

/** The folder and arguments that a rule applies to. */
function reachOf(rule: ApprovalRule, { width, colours }: Output): string[] {
  const workspace = colours.dim(`  in ${cleanLine(rule.workspace)}`);
  if (isForCommands(rule)) return [workspace];
  return [workspace, ...(rule.argsHash === null ? ["  any arguments"] : argumentLines(rule.args, width))];
}

/** Whether the rule's tool is a pattern of commands, which replaces the arguments. */
function isForCommands({ tool }: ApprovalRule): boolean {
  return tool.endsWith(")");
}

function describeRule(rule: ApprovalRule): string {
  if (isForCommands(rule)) return `${rule.decision} ${cleanLine(rule.tool)}`;
  const args = rule.argsHash === null ? "any arguments" : visibleJson(rule.args);
  return `${rule.decision} ${cleanLine(rule.tool)} with ${args}`;
}
