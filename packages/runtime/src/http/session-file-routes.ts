import { TroupeError, type TroupeService } from "@troupe/core";
import type { SessionFiles, SessionFileUpload } from "@troupe/core/internal";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { sessionFileContract } from "./contract/session-file-contract.ts";
import type { HttpEnv } from "./input.ts";
import { sha256Of } from "./session-file-content.ts";

/** Routes that list, upload and download the files of a session's workbench. */
export function addSessionFileRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  addRoutes(app, sessionFileContract, {
    "GET /sessions/{id}/files": async ({ params: { id } }) => ({ files: await filesOf(service).list(id) }),
    "PUT /sessions/{id}/files": async ({ params: { id }, body }) => {
      const { name, by } = body;
      return await filesOf(service).put(id, { name, by, bytes: readContent(body) });
    },
    "GET /sessions/{id}/files/content": async ({ params: { id }, query }) => {
      const { name, sha256, bytes } = await filesOf(service).get(id, query.name);
      return { name, bytes: bytes.byteLength, sha256, content: Buffer.from(bytes).toString("base64") };
    },
  });
}

function filesOf({ sessionFiles }: TroupeService): SessionFiles {
  if (sessionFiles) return sessionFiles;
  throw new TroupeError("USAGE", "this process has no files of sessions", { fix: "troupe up" });
}

/** Decodes the bytes of an upload. Node skips characters that are not base64, so the result is encoded again and compared. */
function readContent({ name, content, sha256 }: SessionFileUpload): Buffer {
  const bytes = Buffer.from(content, "base64");
  if (bytes.toString("base64") !== content) {
    throw new TroupeError("USAGE", `the content of ${JSON.stringify(name)} is not base64`, {
      fix: "encode the bytes with the characters A-Z, a-z, 0-9, + and /, padded with =, without line breaks",
    });
  }
  const found = sha256Of(bytes);
  if (sha256 === undefined || sha256 === found) return bytes;
  throw new TroupeError("USAGE", `the bytes of ${JSON.stringify(name)} have the sha256 ${found}, not ${sha256}`, {
    fix: "upload the file again",
  });
}
