import { type ModelReply, RunFailure } from "@troupe/core";
import { expect } from "vitest";
import { call, calling, type ModelOutput } from "../scripted-agents.ts";
import type { Row } from "./row.ts";

const sudo = (i: number, args: unknown = {}) => calling(call("sudo", args, `call-${i}`));
const times = (count: number, output: (i: number) => ModelOutput): ModelOutput[] =>
  Array.from({ length: count }, (_, i) => output(i));
const notGranted = ["permission", '"sudo" is not granted'] as const;
const repeated = ["params", "with the same arguments, and nothing has changed since"] as const;
const loop = { status: "bailed_out", bailoutReason: "repeated_calls", error: { type: "budget" } };

/** The same again and again. */
const loops: Row[] = [
  { name: "the same unknown tool three times", outputs: times(3, sudo), errors: [notGranted, notGranted, repeated] },
  {
    name: "the same unknown tool forever",
    outputs: times(9, sudo),
    errors: [notGranted, notGranted, repeated, repeated],
    ends: loop,
  },
  {
    name: "the same five times in one turn",
    outputs: [calling(...times(5, () => "").map((_, i) => call("sudo", {}, `call-${i}`)))],
    ends: loop,
  },
  {
    name: "two alternating calls, forever",
    outputs: times(20, (i) => sudo(i, { which: i % 2 })),
    errors: [notGranted, notGranted, notGranted, notGranted, repeated, repeated, repeated, repeated],
    ends: loop,
  },
  {
    name: "the same with its keys in another order",
    outputs: times(9, (i) => sudo(i, i % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 })),
    errors: [notGranted, notGranted, repeated, repeated],
    ends: loop,
  },
  {
    name: "the same delegation to an unknown agent, forever",
    outputs: times(9, (i) => calling(call("delegate", { agent: "ghost", task: "go" }, `call-${i}`))),
    errors: [["permission", '"ghost"'], ["permission", '"ghost"'], repeated, repeated],
    ends: loop,
  },
  {
    name: "the same delegation under different names, forever",
    outputs: times(9, (i) => calling(call(i % 2 ? "Task" : "delegate", { agent: "ghost", task: "go" }, `call-${i}`))),
    errors: [["permission", '"ghost"'], ["permission", '"ghost"'], repeated, repeated],
    ends: loop,
  },
  {
    name: "the same question to a tool with a constant result",
    outputs: times(9, (i) => calling(call("echo", { again: true }, `call-${i}`))),
    errors: [repeated, repeated],
    reaches: ["echo", "echo"],
    ends: { ...loop, toolsUsed: ["echo"] },
  },
  {
    name: "a new question every time, forever",
    agent: "sparing",
    outputs: times(9, (i) => sudo(i, { i })),
    errors: [notGranted, notGranted],
    ends: { status: "bailed_out", bailoutReason: "max_tool_calls" },
  },
  {
    name: "a call in its last turn",
    agent: "brief",
    outputs: [sudo(1)],
    ends: { status: "bailed_out", bailoutReason: "max_iterations" },
  },
  {
    name: "a delegation in its last turn",
    agent: "brief",
    outputs: [calling(call("delegate", { agent: "helper", task: "go" }))],
    ends: { status: "bailed_out", bailoutReason: "max_iterations" },
  },
];

const nothing = { status: "failed", error: { type: "model", message: "the model answered nothing, twice in a row" } };

/** Nothing, or nothing that can be used. */
const silences: Row[] = [
  { name: "nothing, once", outputs: [""] },
  { name: "nothing, twice", outputs: ["", ""], ends: nothing },
  { name: "blanks, twice", outputs: [" ", "\n\t\n"], ends: nothing },
  { name: "an empty reply, a mistake, and an empty reply again", outputs: ["", sudo(1), ""], errors: [notGranted] },
  {
    name: "an empty reply, in its last turn",
    agent: "brief",
    outputs: [""],
    ends: { status: "bailed_out", bailoutReason: "max_iterations" },
  },
  {
    name: "a refusal",
    outputs: [{ text: "I cannot help with that.", stopReason: "refusal" }],
    ends: { status: "failed", error: { type: "model", message: "the model refused to answer" } },
  },
  {
    name: "a refusal with a call in it",
    outputs: [{ ...sudo(1), stopReason: "refusal" }],
    ends: { status: "failed", error: { type: "model" } },
  },
  {
    name: "half an answer",
    outputs: [{ text: "I was about to", stopReason: "max_tokens" }],
    ends: {
      status: "completed",
      details: "I was about to",
      warnings: [expect.stringContaining("cut off at its output limit")],
    },
  },
];

/** A reply that a vendor's adapter should never have let through. */
const garbled: readonly (readonly [what: string, reply: Record<string, unknown>])[] = [
  ["no text", { text: undefined }],
  ["a number for a text", { text: 5 }],
  ["a list for a text", { text: ["a", "b"] }],
  ["null for calls", { calls: null }],
  ["an object for calls", { calls: {} }],
  ["a call that is a text", { calls: ["read notes.md"] }],
  ["a call that is null", { calls: [null] }],
  ["a call without a name", { calls: [{ id: "1", args: {} }] }],
  ["a call without an id", { calls: [{ name: "read", args: {} }] }],
  ["a call without arguments", { calls: [{ id: "1", name: "read" }] }],
  ["a function for arguments", { calls: [{ id: "1", name: "echo", args: () => "x" }] }],
  ["a date for arguments", { calls: [{ id: "1", name: "echo", args: { at: new Date(0) } }] }],
  ["an infinite number for an argument", { calls: [{ id: "1", name: "echo", args: { x: Number.POSITIVE_INFINITY } }] }],
  ["a big integer for an argument", { calls: [{ id: "1", name: "echo", args: { x: 1n } }] }],
  ["a number for a tool's name", { calls: [{ id: "1", name: 7, args: {} }] }],
  ["an unknown reason to stop", { stopReason: "tired" }],
  ["no usage", { usage: undefined }],
  ["a negative number of tokens", { usage: { inputTokens: -1, outputTokens: 0 } }],
  ["tokens that are not a number", { usage: { inputTokens: Number.NaN, outputTokens: 0 } }],
  ["tokens in words", { usage: { inputTokens: "many", outputTokens: 0 } }],
  ["a negative cost", { usage: { inputTokens: 1, outputTokens: 1, costUsd: -5 } }],
  ["no model", { model: undefined }],
];

const broken: Row[] = garbled.map(([what, reply]) => ({
  name: `a reply with ${what}`,
  outputs: [reply as Partial<ModelReply>],
  ends: {
    status: "failed",
    error: { type: "model", recoverable: false, message: expect.stringMatching(/^the model's reply cannot be used: /) },
  },
}));

/** A vendor that throws instead of answering. */
const thrown: Row[] = (
  [
    ["an error", new Error("socket hang up"), { type: "model", message: "socket hang up" }],
    ["a text", "no", { type: "model", message: "no" }],
    ["nothing", undefined, { type: "model" }],
    ["an object", { code: 500 }, { type: "model" }],
    [
      "a failure of its own",
      new RunFailure({ type: "auth", message: "the key is not valid", recoverable: false }),
      { type: "auth", message: "the key is not valid" },
    ],
  ] as const
).map(([what, error, expected]) => ({
  name: `a vendor that throws ${what}`,
  outputs: [{ throws: error }],
  ends: { status: "failed", error: expected },
}));

export const replyRows: readonly Row[] = [...loops, ...silences, ...broken, ...thrown];
