import { z } from "zod";

export const contentCharactersMax = 4 * 1024 * 1024;

export const pathField = z.string().min(1).max(4_096).describe("Path relative to the workspace");

export const contentField = z.string().max(contentCharactersMax).describe("The whole new content of the file");

export const versionField = z
  .string()
  .regex(/^[0-9a-fA-F]{8,64}$/, "the version that read has shown")
  .optional()
  .describe("Version that the change is about, as read shows it; without it, the one that you have seen last");
