import type { View, ViewStep } from "../mount-plan/mount-plan.ts";

export interface BwrapOptions {
  network: boolean;
  /** Of each empty folder. */
  scratchBytesMax: number;
  /** Whether this bwrap can keep a command from making namespaces of its own. */
  lockNamespaces: boolean;
}

/** What bubblewrap has to be told for a command to run in a world; the command follows it. */
export function renderBwrap({ steps, folder, env }: View, options: BwrapOptions): string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    ...(options.network ? ["--share-net"] : []),
    ...(options.lockNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...steps.flatMap((step) => renderStep(step, options)),
    // Only now, since what is in them had to be put there.
    ...steps.flatMap((step) => (isMask(step) ? ["--remount-ro", step.path] : [])),
    ...["--remount-ro", "/"],
    "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", folder],
  ];
}

function renderStep(step: ViewStep, { scratchBytesMax }: BwrapOptions): string[] {
  const { path } = step;
  switch (step.kind) {
    case "read":
      return ["--ro-bind", path, path];
    case "write":
      return ["--bind", path, path];
    case "scratch":
      return ["--size", String(scratchBytesMax), "--perms", "1777", "--tmpfs", path];
    case "folder":
      return ["--dir", path];
    case "hidden":
      return isMask(step) ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
    case "link":
      return ["--symlink", step.target, path];
    case "processes":
      // Root's own namespace has no right in it over the machine's settings, but the files of those are still root's.
      return ["--proc", path, "--remount-ro", path];
    case "devices":
      return ["--dev", path];
  }
}

function isMask(step: ViewStep): boolean {
  return step.kind === "hidden" && step.type === "folder";
}
