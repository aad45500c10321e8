import { type Redactor, TroupeError } from "@troupe/core";
import type { AgentCheck, AgentDraft, AgentFileRow, AgentFiles, AgentFileView } from "@troupe/core/internal";

/**
 * Wraps agent files so that no secret enters or leaves them. A file with a secret is shown redacted and cannot be edited:
 * saving the redacted text would destroy the secret. A draft with a secret is refused.
 */
export function redactAgentFiles(files: AgentFiles, redact: Redactor): AgentFiles {
  const viewOf = (view: AgentFileView): AgentFileView => {
    if (!hasSecret(view.check, redact)) return redact.json(view);
    const row: AgentFileRow = { ...view.row, editing: "none", reason: "its file contains a secret" };
    return redact.json({ row, check: { ...view.check, form: null, formProblem: row.reason } });
  };
  return {
    list: async (workspace) => redact.json(await files.list(workspace)),
    read: async (id, workspace) => viewOf(await files.read(id, workspace)),
    async check(draft) {
      refuseSecrets(draft, redact);
      const check = await files.check(draft);
      if (hasSecret(check, redact)) throw containsSecret(draft.id);
      return redact.json(check);
    },
    async save(draft) {
      refuseSecrets(draft, redact);
      return viewOf(await files.save(draft));
    },
    remove: async (id, removal) => redact.json(await files.remove(id, removal)),
  };
}

function hasSecret({ text }: AgentCheck, redact: Redactor): boolean {
  return redact.text(text) !== text;
}

function refuseSecrets({ id, form, text }: AgentDraft, redact: Redactor): void {
  const given = JSON.stringify([form ?? null, text ?? ""]);
  if (redact.text(given) !== given || redact.text(text ?? "") !== (text ?? "")) throw containsSecret(id);
}

function containsSecret(id: string): TroupeError {
  return new TroupeError("USAGE", `the file of ${id} would contain a secret, such as an API key; nothing was written`, {
    fix: "remove the secret from the text",
  });
}
