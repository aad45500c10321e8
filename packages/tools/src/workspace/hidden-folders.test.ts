import { mkdir, mkdtempDisposable, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hideFolder } from "./hidden-folders.ts";
import { resolvePath } from "./resolve-path.ts";

describe("a hidden folder", () => {
  it("is not found by any path of an enclosing workspace, existing or not, until it is shown again", async () => {
    await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-hidden-"));
    const home = join(made.path, "share", "troupe");
    await mkdir(join(home, "workspaces", "w"), { recursive: true });
    await writeFile(join(home, "token"), "secret");
    await writeFile(join(home, "workspaces", "w", "a.txt"), "a");
    await symlink(join(home, "token"), join(made.path, "link"));
    const show = await hideFolder(home);

    for (const path of ["share/troupe/token", "share/troupe", "share/troupe/policy.yaml", "link"]) {
      await expect(resolvePath(made.path, path)).rejects.toMatchObject({ runError: { type: "permission" } });
    }
    for (const path of ["share", "share/troupe2", "other"]) {
      await using place = await resolvePath(made.path, path);
      expect(place.shown).toBe(path);
    }
    // The workspace of a session without one lies in troupe's home.
    await using own = await resolvePath(join(home, "workspaces", "w"), "a.txt");
    expect(own.found.kind).toBe("file");

    show();
    await using shown = await resolvePath(made.path, "link");
    expect(shown.real).toBe("share/troupe/token");
  });
});
