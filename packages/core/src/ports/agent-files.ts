import type {
  AgentCheck,
  AgentDraft,
  AgentFileList,
  AgentFileView,
  AgentRemoval,
  AgentRemoved,
} from "../protocol/agent-file.ts";

/**
 * Reads and changes agent files. A change never leaves the folders of the user and of the given project, and never
 * replaces a file that has changed since the caller read it.
 */
export interface AgentFiles {
  list(workspace: string | null): Promise<AgentFileList>;
  /** Fails with `UNKNOWN_AGENT`. */
  read(id: string, workspace: string | null): Promise<AgentFileView>;
  /** Says what a draft would change, and which problems the file would have. Writes nothing. */
  check(draft: AgentDraft): Promise<AgentCheck>;
  /**
   * Writes a draft. Fails with `CONFLICT` if the file has another version, with `FORBIDDEN` for a file that is not the
   * user's to change here, and with `INVALID_AGENT` if the file would have an error.
   */
  save(draft: AgentDraft): Promise<AgentFileView>;
  /** Deletes a file. Fails like `save`. */
  remove(id: string, removal: AgentRemoval): Promise<AgentRemoved>;
}
