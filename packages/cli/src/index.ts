export type { Cli } from "./cli.ts";
export { type HomeLogger, openLogger } from "./logger.ts";
export { runProcess } from "./process.ts";
export { type ProgramEnvironment, runProgram } from "./program.ts";
export type { ClientEvent, Composition, RecordArchive, StartTroupe, TroupeClient } from "./troupe.ts";
