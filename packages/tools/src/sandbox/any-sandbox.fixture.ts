import { defaultPolicy } from "@troupe/core";
import { inject } from "vitest";
import { createSandbox } from "./create-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * A sandbox for tests of tools that give the same results in each kind. The normal run takes the one without namespaces,
 * because its commands cost half. The long run takes the best sandbox of the machine.
 */
export function createAnySandbox(): Promise<Sandbox> {
  return createSandbox({ policy: { ...defaultPolicy.sandbox, mode: inject("long") ? "auto" : "off" } });
}
