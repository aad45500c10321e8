import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import { listTree } from "./folder-listing.ts";
import { pathField } from "./inputs.ts";
import { missingFile } from "./missing-file.ts";

/** Lists a folder of the workspace. */
export function createLsTool(): Tool {
  return defineTool({
    name: "ls",
    description:
      "Lists a folder of the workspace, sorted, with sizes; folders end with /. Hidden and ignored names are shown. " +
      "With depth, what is in its folders too, but not in .git and node_modules.",
    input: z.strictObject({
      path: pathField.default("."),
      depth: z.int().min(1).max(6).default(1).describe("How many folders deep"),
    }),
    risk: "low",
    effect: "read",
    groups: ["filesystem"],
    async run({ path, depth }, { workspace }) {
      await using place = await resolvePath(workspace, path);
      const { found, shown } = place;
      if (found.kind === "missing") throw await missingFile(place, workspace);
      if (found.kind === "folder") return { output: await listTree(found.folder, { depth, shown }) };
      const size = found.kind === "file" ? `a file of ${found.file.stats.size} bytes` : found.what;
      throw failure("params", `${shown} is no folder: it is ${size}`);
    },
  });
}
