export { type CachedReadsOptions, cacheReads } from "./cached-reads.ts";
export { createCodeTools } from "./code/create-code-tools.ts";
export { createShellTool } from "./commands/shell.ts";
export { type CreateToolsOptions, createTools, describedTools, shippedToolSpecs } from "./create-tools.ts";
export { type CustomTools, type CustomToolsOptions, createCustomTools } from "./custom/custom-tools.ts";
export type { ToolProblem } from "./custom/load-tools.ts";
export { type BoundCall, defineTool, type Tool, type ToolDefinition, type ToolResult } from "./define-tool.ts";
export { createFolderBlobs } from "./disk/folder-blobs.ts";
export { createDiskSpace, type DiskSpaceOptions, findShortage, readVolumeSpace } from "./disk/free-space.ts";
export { readSettings } from "./disk/read-settings.ts";
export { openSessionUsage, type SessionUsage, type SessionUsageOptions } from "./disk/session-usage.ts";
export { createFileTools } from "./files/create-file-tools.ts";
export type { FileToolOptions } from "./files/file-tool-deps.ts";
export { createRecallTool, type RecallOptions } from "./memory/recall.ts";
export { createSessionFiles, type SessionFilesOptions } from "./memory/session-files.ts";
export { workbenchFolder } from "./memory/workbench-store.ts";
export { openApprovalRules } from "./policy/approval-rules.ts";
export { loadPolicy, policyWarnings } from "./policy/load-policy.ts";
export { createReportTools, type ReportToolOptions } from "./report/create-report-tools.ts";
export { createFileRestorer } from "./restore/file-restorer.ts";
export { createRunFolders, type RunFoldersOptions } from "./run-workspaces/run-folders.ts";
export { type CreateSandboxOptions, createSandbox } from "./sandbox/create-sandbox.ts";
export { type DiskLimits, limitDisk } from "./sandbox/limit-disk.ts";
export type { CommandResult, Sandbox, SandboxedCommand, SandboxKind } from "./sandbox/sandbox.ts";
export { locateRipgrep } from "./search/ripgrep.ts";
export { createToolHost, type LocalToolHost, type ToolHostOptions } from "./tool-host.ts";
export type { ProjectFile, ProjectFiles, ProjectKind } from "./trust/project-files.ts";
export {
  createProjectTrust,
  hasIgnoredFiles,
  isAcceptedDefinition,
  type Project,
  type ProjectTrust,
  type TrustStatus,
  trustedFile,
} from "./trust/project-trust.ts";
export type { TrustRecord } from "./trust/trust-store.ts";
export { chooseSearch, type SearchChoice, type SearchSettings, type SearchUrls } from "./web/choose-search.ts";
export { createWebTools, type WebToolOptions } from "./web/create-web-tools.ts";
export { hideFolder } from "./workspace/hidden-folders.ts";
export { createWorkspaceFiles, type WorkspaceFiles } from "./workspace/workspace-files.ts";
