// A process that swaps folders and files for links while an undo works must not lead the undo out of the workspace.
import { Buffer } from "node:buffer";
import { createMemoryBlobs } from "@troupe/core/memory";
import { expect, inject, test } from "vitest";
import { runSwapRace, type Try } from "../workspace/swap-race.test-helper.ts";
import { createFileRestorer } from "./file-restorer.ts";

const swaps = inject("long") ? 200_000 : 10_000;

test("an undo never leaves the workspace, even if its folders are quickly swapped for links", async () => {
  const blobs = createMemoryBlobs();
  const refs = [await blobs.put(Buffer.from("undone")), await blobs.put(Buffer.from("inside"))];
  const restorer = createFileRestorer({ blobs });
  const trying =
    (path: string): Try =>
    async (workspace, i) => {
      const [state] = await restorer.inspect(workspace, [path]);
      const version = i % 3 === 2 ? null : (refs[i % 2] as string);
      if (state?.version) await restorer.keep(workspace, path, state.version);
      const ref = version === null ? {} : { ref: version };
      await restorer.restore(workspace, {
        path,
        expected: state?.version ?? null,
        version,
        ...ref,
        type: "file",
        mode: null,
      });
      return "restored";
    };
  const folders: Try = async (workspace) => {
    await restorer.removeEmptyFolders(workspace, ["sub", "sub/a.txt"]);
    return "removed";
  };
  const race = await runSwapRace(swaps, [trying("sub/a.txt"), trying("file.txt"), trying("sub/new/deep.txt"), folders]);
  expect(race.escapes).toEqual([]);
  expect(race.swaps).toBe(swaps);
  expect(race.done).toBeGreaterThan(10);
  // No content from outside was stored.
  expect(await blobs.get(await createMemoryBlobs().put(Buffer.from("SECRET")))).toBeNull();
}, 600_000);
