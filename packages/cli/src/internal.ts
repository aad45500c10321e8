// Parts of the command line for a process that runs a command without starting another process: the tests.
export { composition } from "./composition.ts";
export { ownVersion } from "./program/process.ts";
export { watchInterrupts } from "./terminal/interrupts.ts";
export { systemProcesses } from "./terminal/processes.ts";
export { createTerminal } from "./terminal/terminal.ts";
