import { misfits } from "./output-schema.ts";
import type { BuiltinVerifier } from "./verifier.ts";
import { readWorkspaceText } from "./workspace-file.ts";

/** Checks that a file is JSON and fits a schema. */
export const jsonFileFits: BuiltinVerifier<"json-schema"> = async ({ workspace, params: { path, schema } }) => {
  const text = await readWorkspaceText(workspace, path);
  return misfits(text, schema as Parameters<typeof misfits>[1]).map((problem) =>
    problem.replaceAll("the answer", path),
  );
};
