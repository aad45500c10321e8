import type { Tool } from "@troupe/core/tool";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createRipgrep } from "../search/ripgrep.ts";
import { createCodeFiles } from "./code-files.ts";
import { createCodeSearchTool } from "./code-search.ts";
import { createDocsCoverageTool } from "./docs-coverage.ts";
import { createOverviewTool } from "./overview/overview.ts";
import { createSyntaxService, type SyntaxService } from "./syntax/syntax-service.ts";

export interface CodeToolOptions {
  sandbox: Sandbox;
  /** @default createSyntaxService() */
  syntax?: SyntaxService;
}

/**
 * Creates the tools that parse source code: code_search, overview and docs_coverage. The parser starts at the first call.
 *
 * @example
 * const tools = createCodeTools({ sandbox: await createSandbox() });
 */
export function createCodeTools({ sandbox, syntax = createSyntaxService() }: CodeToolOptions): Tool[] {
  const files = createCodeFiles({ ripgrep: createRipgrep({ sandbox }), syntax });
  return [createCodeSearchTool({ files }), createOverviewTool({ files }), createDocsCoverageTool({ files })];
}
