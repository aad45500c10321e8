export type { Cli } from "./cli.ts";
export { type Home, homeFiles, locateHome, prepareHome } from "./home.ts";
export { type HomeLogger, openLogger } from "./logger.ts";
export { acquireHome, type OwnedHome, tryAcquireHome } from "./owned-home.ts";
export { findOwner, OwnerInfo } from "./owner.ts";
export { runProcess } from "./process.ts";
export { type ProgramEnvironment, runProgram } from "./program.ts";
export type {
  ClientEvent,
  Composition,
  OwnerKind,
  RecordArchive,
  RunningTroupe,
  StartOptions,
  StartTroupe,
  TroupeClient,
} from "./troupe.ts";
