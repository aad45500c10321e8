import type { ConversationCall, ConversationItem, ConversationText } from "@troupe/core/internal";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine, cleanText, visibleJson } from "./clean.ts";
import { formatCost, formatDuration } from "./format.ts";

type ItemOf<K extends ConversationItem["kind"]> = ConversationItem & { kind: K };

/** A part of a conversation as lines for a terminal. Escape sequences and control characters of its texts are removed. */
export function conversationLines(item: ConversationItem, out: Output): string[] {
  const lines = renderers[item.kind] as (item: ConversationItem, out: Output) => string[];
  return [...lines(item, out), ""];
}

const renderers: { [K in ConversationItem["kind"]]: (item: ItemOf<K>, out: Output) => string[] } = {
  request: ({ from, agent, task, context, prompt, earlierMessages, at }, { colours }) => [
    headOf(`${from ?? "user"} → ${agent}`, [timeOf(at)], colours.cyan, colours.dim),
    ...block(task),
    ...(context === null ? [] : [colours.dim("  passed context:"), ...block(context, "    ")]),
    ...(earlierMessages === 0 ? [] : [colours.dim(`  ${earlierMessages} messages of earlier turns`)]),
    colours.dim(
      `  system prompt: ${(prompt.cut?.characters ?? prompt.text.length).toLocaleString("en-US")} characters`,
    ),
  ],
  reply: ({ step, model, durationMs, inputTokens, outputTokens, costUsd, retries, text, ...reply }, { colours }) => {
    const tokens = `${(inputTokens + outputTokens).toLocaleString("en-US")} tokens`;
    const failed = retries === 0 ? [] : [`after ${retries} failed ${retries === 1 ? "request" : "requests"}`];
    const facts = [cleanLine(model), formatDuration(durationMs), tokens, formatCost(costUsd), ...failed];
    const left = reply.callsLeftOut === 0 ? [] : [`  and ${reply.callsLeftOut} further calls`];
    return [
      headOf(`step ${step}`, facts, colours.cyan, colours.dim),
      ...block(text),
      ...reply.calls.flatMap((call) => callLines(call, colours.bold)),
      ...left,
    ];
  },
  failure: ({ step, error, durationMs }, { colours }) => [
    headOf(`step ${step}`, [formatDuration(durationMs)], colours.cyan, colours.dim),
    `  ${colours.red(`model call failed: ${cleanLine(error)}`)}`,
  ],
  result: ({ tool, call, durationMs, error, isInDoubt, child, files, text }, { colours }) => {
    const outcome = isInDoubt ? "in doubt" : error === null ? "ok" : `failed: ${cleanLine(error)}`;
    const name = child === null ? tool : `${child.agent}${child.attempt > 1 ? `, attempt ${child.attempt}` : ""}`;
    const paint = error === null && !isInDoubt ? colours.green : colours.red;
    const facts = [`call ${call + 1}`, formatDuration(durationMs), outcome];
    return [
      headOf(`← ${name}`, facts, paint, colours.dim),
      ...block(text),
      ...(files.length === 0 ? [] : [colours.dim(`  files: ${cleanLine(files.join(", "))}`)]),
      ...(child === null ? [] : [colours.dim(`  run ${child.run}`)]),
    ];
  },
  question: ({ tool, reason }, { colours }) => [
    colours.yellow(`? asks to ${tool === null ? "start" : `run ${cleanLine(tool)}`}: ${cleanLine(reason)}`),
  ],
  command: ({ by, text, at }, { colours }) => [
    headOf(`${by ?? "user"} →`, [timeOf(at)], colours.yellow, colours.dim),
    ...block(text),
  ],
  note: ({ text }, { colours }) => block(text, "").map((line) => colours.dim(`· ${line}`)),
  answer: ({ status, text, error, bailoutReason }, { colours }) => {
    const why = bailoutReason ?? error;
    const paint = status === "completed" ? colours.green : colours.red;
    return [
      headOf(status.replaceAll("_", " "), why === null ? [] : [cleanLine(why)], paint, colours.dim),
      ...block(text),
    ];
  },
};

type Paint = (text: string) => string;

function headOf(title: string, facts: readonly string[], paint: Paint, dim: Paint): string {
  return [paint(cleanLine(title)), ...(facts.length === 0 ? [] : [dim(facts.join(" · "))])].join("  ");
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace("T", " ").slice(0, 19);
}

function block({ text, cut }: ConversationText, indent = "  "): string[] {
  const whole = cleanText(text).trimEnd();
  const lines = whole === "" ? [] : whole.split("\n").map((line) => `${indent}${line}`.trimEnd());
  return cut === null ? lines : [...lines, `${indent}${cutNote(cut)}`];
}

function cutNote({ characters, entry }: { characters: number; entry: number }): string {
  return `… the first part of ${characters.toLocaleString("en-US")} characters; the rest is in entry ${entry}`;
}

/** One line for a call with a short argument, else a line for each argument, and a block for a text of several lines. */
function callLines({ name, args, argsCut, problem }: ConversationCall, paint: Paint): string[] {
  const head = `  ${paint(`⚙ ${cleanLine(name)}`)}`;
  const note = problem === null ? [] : [`    invalid call: ${cleanLine(problem)}`];
  if (argsCut !== null) return [head, ...block({ text: String(args), cut: argsCut }, "    "), ...note];
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return [args === null ? head : `${head}  ${visibleJson(args)}`, ...note];
  }
  const fields = Object.entries(args);
  const [first] = fields;
  if (first && fields.length === 1 && typeof first[1] === "string" && !first[1].includes("\n")) {
    return [`${head}: ${cleanText(first[1])}`, ...note];
  }
  return [head, ...fields.flatMap(([key, value]) => fieldLines(cleanLine(key), value)), ...note];
}

function fieldLines(key: string, value: unknown): string[] {
  if (typeof value !== "string") return [`    ${key}: ${visibleJson(value)}`];
  if (!value.includes("\n")) return [`    ${key}: ${cleanText(value)}`];
  return [`    ${key}:`, ...block({ text: value, cut: null }, "      ")];
}
