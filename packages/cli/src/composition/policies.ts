import { loadPolicy, openApprovalRules, policyWarnings, shippedToolSpecs } from "@troupe/tools";
import { homeFiles, openSandbox, sandboxFacts } from "troupe/internal";
import type { Composition } from "../cli.ts";

/** The policy of a home, and the parts that depend on it. */
export const policies: Pick<Composition, "readPolicy" | "readSandbox" | "readRules"> = {
  async readPolicy(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    const { commands, savedFiles } = policy;
    return {
      layer: policy.layer,
      freeMb: policy.disk?.freeMb ?? null,
      ...(commands && savedFiles ? { files: { loss: commands.loss, savedFiles } } : {}),
      warnings: policyWarnings(policy, shippedToolSpecs()),
    };
  },
  async readSandbox(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    return sandboxFacts(await openSandbox({ home, policy, isUsed: true, usage: null }));
  },
  readRules: async (home) => [...(await openApprovalRules({ file: homeFiles(home).rules })).list()],
};
