export type { Cli, Composition, RecordArchive, StartTroupe } from "./cli.ts";
export { type HomeLogger, openLogger } from "./logger.ts";
export { runProcess } from "./program/process.ts";
export { type ProgramEnvironment, runProgram } from "./program/program.ts";
export type { ClientEvent, TroupeClient } from "./session/client.ts";
