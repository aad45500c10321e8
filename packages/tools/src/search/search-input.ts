import { z } from "zod";

const noNul = [(text: string) => !text.includes("\0"), "it has a NUL character in it"] as const;

export const searchInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .refine(...noNul)
    .describe("Regular expression (Rust's: no look-around, no back references)"),
  path: z.string().min(1).default(".").describe("File or folder to search, relative to the workspace"),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .refine(...noNul)
    .optional()
    .describe("Only files that fit, e.g. *.ts at any depth, or src/**/*.test.ts"),
  type: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_+-]{0,30}$/)
    .optional()
    .describe("Only files of a kind that ripgrep knows: ts, js, py, go, rust, md, json …"),
  mode: z.enum(["content", "files", "count"]).default("content").describe("Lines, paths, or how often for each file"),
  ignoreCase: z.boolean().default(false).describe("Upper and lower case are the same"),
  literal: z.boolean().default(false).describe("The pattern is plain text"),
  multiline: z.boolean().default(false).describe("Matches may span lines; on by itself for a pattern with \\n"),
  context: z.int().min(0).max(10).default(0).describe("Lines to show before and after each match"),
  limit: z.int().min(1).max(1_000).default(100).describe("How many matching lines, or files, to show"),
  ignored: z.boolean().default(false).describe("Also files that .gitignore leaves out"),
});
export type SearchInput = z.infer<typeof searchInput>;
