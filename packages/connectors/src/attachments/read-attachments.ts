import { open, realpath } from "node:fs/promises";
import { basename, extname, resolve, sep } from "node:path";
import { ConnectorError } from "../ports/connector-error.ts";
import { attachmentBytesMax, type OutgoingAttachment } from "../ports/mail.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ...{
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
  },
  ...{
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
  },
  ...{ ".zip": "application/zip", ".ics": "text/calendar", ".vcf": "text/vcard" },
};

/**
 * Reads the files of a mail. All of them are inside `folder`: a path or a link that leads out of it is a `permission` error.
 * A missing file, a folder and a file of more than 20 MB are `params` errors.
 *
 * @example
 * const attachments = await readAttachments(["report.pdf"], { folder: "/home/me/project" });
 */
export async function readAttachments(
  paths: readonly string[],
  { folder }: { folder: string },
): Promise<OutgoingAttachment[]> {
  const root = await realpath(folder);
  return Promise.all(paths.map((path, i) => readAttachment(path, root, `attachments.${i}`)));
}

async function readAttachment(path: string, root: string, param: string): Promise<OutgoingAttachment> {
  const real = await realpath(resolve(root, path)).catch(() => null);
  if (real === null)
    throw new ConnectorError("params", `the attachment ${path} does not exist`, { param, fix: "correct its path" });
  if (!real.startsWith(root + sep)) {
    throw new ConnectorError("permission", `the attachment ${path} is outside the folder of the run`, { param });
  }
  await using file = await open(real);
  const found = await file.stat();
  if (!found.isFile()) throw new ConnectorError("params", `the attachment ${path} is not a file`, { param });
  if (found.size > attachmentBytesMax) {
    throw new ConnectorError("params", `the attachment ${path} is larger than 20 MB`, {
      param,
      fix: "send a smaller file",
    });
  }
  const contentType = contentTypes[extname(real).toLowerCase()] ?? "application/octet-stream";
  return { name: basename(path), contentType, content: await file.readFile() };
}
