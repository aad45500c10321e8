/** The parts that the definition of a tool needs. It loads a small part of core, so that programs with own tools start fast. */
export { Risk } from "./protocol/agent.ts";
export { RunFailure } from "./protocol/run-error.ts";
export { ToolSpec } from "./protocol/tool.ts";
