import { type Redactor, TroupeError } from "@troupe/core";
import { redactBytes, type SessionFiles } from "@troupe/core/internal";

/** Refuses uploads with a secret. The store would mask the secret, and the stored file would differ from the sent one. */
export function redactSessionFiles(files: SessionFiles, redact: Redactor): SessionFiles {
  return {
    list: async (session) => redact.json(await files.list(session)),
    async put(session, { name, bytes, by }) {
      if (redact.text(name) !== name || redactBytes(redact, bytes) !== bytes) {
        throw new TroupeError(
          "USAGE",
          "the file or its name contains a secret, such as an API key; nothing was stored",
          {
            fix: "remove the secret, and upload the file again",
          },
        );
      }
      return await files.put(session, { name, bytes, by: redact.text(by) });
    },
    get: (session, name) => files.get(session, name),
  };
}
