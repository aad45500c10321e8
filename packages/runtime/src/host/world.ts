import type {
  Bus,
  Clock,
  CompanySource,
  Journal,
  ModelProvider,
  Redactor,
  Subjects,
  TaskQueue,
  ToolHost,
} from "@troupe/core";
import type { Logger } from "../logger.ts";
import type { ResolveModel } from "../models/resolve-model.ts";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { Probe } from "./probe.ts";

/** All that a host needs of the world: ports and nothing else. */
export interface World {
  journal: Journal;
  queue: TaskQueue;
  bus: Bus;
  subjects: Subjects;
  models: ModelProvider;
  /** @default ids are taken as they are written */
  resolveModel?: ResolveModel;
  tools: ToolHost;
  companies: CompanySource;
  verifiers: Verifiers;
  clock: Clock;
  logger: Logger;
  probe: Probe;
  /** Takes secrets out of all that is written or sent from here. @default nothing is looked for */
  redact?: Redactor;
  /** Name of this host: a token, in every entry that it writes. */
  hostId: string;
}
