import { TroupeError, type TroupeService } from "@troupe/core";
import {
  type SessionFileContent,
  type SessionFileList,
  SessionFileName,
  type SessionFiles,
  SessionFileUpload,
  sessionFileBytesMax,
} from "@troupe/core/internal";
import type { Context, Hono } from "hono";
import { type HttpEnv, readBody, readId } from "./input.ts";
import { sha256Of } from "./session-file-content.ts";

/** Base64 has four characters for three bytes. The rest is for the name, which JSON can write with six bytes a character. */
export const uploadBytesMax = 4 * Math.ceil(sessionFileBytesMax / 3) + 16 * 1024;

/** Routes that list, upload and download the files of a session's workbench. */
export function addSessionFileRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.get("/api/sessions/:id/files", async (context) => {
    const session = readId(context, "id", "session");
    return context.json({ files: await filesOf(service).list(session) } satisfies SessionFileList);
  });
  app.put("/api/sessions/:id/files", async (context) => {
    const session = readId(context, "id", "session");
    const upload = await readBody(context, SessionFileUpload, { bytesMax: uploadBytesMax });
    const { name, by } = upload;
    return context.json(await filesOf(service).put(session, { name, by, bytes: readContent(upload) }));
  });
  app.get("/api/sessions/:id/files/content", async (context) => {
    const session = readId(context, "id", "session");
    const { name, sha256, bytes } = await filesOf(service).get(session, readName(context));
    const content = Buffer.from(bytes).toString("base64");
    return context.json({ name, bytes: bytes.byteLength, sha256, content } satisfies SessionFileContent);
  });
}

function filesOf({ sessionFiles }: TroupeService): SessionFiles {
  if (sessionFiles) return sessionFiles;
  throw new TroupeError("USAGE", "this process has no files of sessions", { fix: "troupe up" });
}

function readName(context: Context<HttpEnv>): string {
  const name = context.req.query("name") ?? "";
  const parsed = SessionFileName.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new TroupeError(
    "USAGE",
    `${JSON.stringify(name)} is not a name of a file: ${parsed.error.issues[0]?.message}`,
    {
      fix: "name a file of the session: ?name=report.html",
    },
  );
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
