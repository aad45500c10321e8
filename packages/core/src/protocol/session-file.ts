import { z } from "zod";

/** The largest file of a workbench. */
export const sessionFileBytesMax = 16 * 1024 * 1024;

/** Any text is a name: it is never used as a path. */
export const SessionFileName = z
  .string()
  .min(1)
  .max(1_000)
  .refine((name) => !name.includes("\0"), "it has a NUL character in it");

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "64 digits of lower-case hex");

/** A file on the workbench of a session. Either a run or a person put it there. */
export const SessionFileRow = z.object({
  name: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
  /** Null: a person uploaded it. */
  run: z.string().nullable(),
  /** The person's name. Null: a run uploaded it. */
  by: z.string().nullable(),
  at: z.iso.datetime(),
});
export type SessionFileRow = z.infer<typeof SessionFileRow>;

/** The files of a workbench by name. */
export const SessionFileList = z.object({ files: z.array(SessionFileRow) });
export type SessionFileList = z.infer<typeof SessionFileList>;

/** Body of an upload. `sha256` is of the bytes, and is compared if it is given. */
export const SessionFileUpload = z.strictObject({
  name: SessionFileName,
  /** The bytes in base64. */
  content: z.string(),
  sha256: Sha256.optional(),
  by: z.string().trim().min(1).max(200).default("a person"),
});
export type SessionFileUpload = z.infer<typeof SessionFileUpload>;

/** Reply to a download. */
export const SessionFileContent = z.object({
  name: z.string(),
  bytes: z.int().nonnegative(),
  sha256: Sha256,
  /** The bytes in base64. */
  content: z.string(),
});
export type SessionFileContent = z.infer<typeof SessionFileContent>;
