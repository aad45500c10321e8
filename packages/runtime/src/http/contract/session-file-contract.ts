import {
  SessionFileContent,
  SessionFileList,
  SessionFileName,
  SessionFileRow,
  SessionFileUpload,
  sessionFileBytesMax,
} from "@troupe/core/internal";
import { z } from "zod";
import { defineRoutes } from "./route.ts";

/** Base64 has four characters for three bytes. The rest is for the name, which JSON can write with six bytes a character. */
export const uploadBytesMax: number = 4 * Math.ceil(sessionFileBytesMax / 3) + 16 * 1024;

const params = { id: "session" } as const;

/** Routes that list, upload and download the files of a session's workbench. */
export const sessionFileContract = defineRoutes({
  "GET /sessions/{id}/files": {
    operation: "listSessionFiles",
    summary: "The files of a session, by name",
    params,
    reply: SessionFileList,
    alias: true,
  },
  "PUT /sessions/{id}/files": {
    operation: "putSessionFile",
    summary: "Uploads a file of at most 16 MiB, in base64",
    params,
    body: SessionFileUpload,
    bodyBytesMax: uploadBytesMax,
    reply: SessionFileRow,
    errors: ["LIMIT_REACHED"],
    alias: true,
  },
  "GET /sessions/{id}/files/content": {
    operation: "getSessionFile",
    summary: "Downloads a file, in base64",
    params,
    query: z.object({ name: SessionFileName.meta({ description: "The name of the file, such as `report.html`." }) }),
    reply: SessionFileContent,
    errors: ["UNKNOWN_FILE"],
    alias: true,
  },
});
