import { describe, expect, it } from "vitest";
import { renderBubblewrap } from "../backends/bubblewrap.ts";
import { quote, renderMountScript } from "../backends/mount-script.ts";
import { type MountStep, orderSteps } from "./mount-steps.ts";

const read = (path: string): MountStep => ({ kind: "read", path, type: "folder" });
const write = (path: string): MountStep => ({ kind: "write", path, type: "folder" });
const hidden = (path: string): MountStep => ({ kind: "hidden", path, type: "folder" });
const scratch = (path: string): MountStep => ({ kind: "scratch", path });

describe("the steps of a mount plan", () => {
  it("have a folder before the paths in it, and of two steps for one path the later one", () => {
    const ordered = orderSteps([write("/a/b/c"), read("/a/b/c"), hidden("/a/b"), read("/a"), scratch("/z")]);
    expect(ordered).toEqual([read("/a"), scratch("/z"), hidden("/a/b"), read("/a/b/c")]);
  });

  it("leave out redundant steps", () => {
    expect(orderSteps([read("/a"), read("/a/b")])).toEqual([read("/a")]);
    expect(orderSteps([hidden("/a/b"), read("/c")])).toEqual([read("/c")]);
    expect(orderSteps([read("/a"), hidden("/a/b"), hidden("/a/b/c")])).toEqual([read("/a"), hidden("/a/b")]);
  });

  it("keep a mount of its own in a writable folder: it cannot be renamed", () => {
    expect(orderSteps([write("/a"), write("/a/.git"), read("/a/.git/hooks")])).toHaveLength(3);
  });
});

const plan = {
  steps: [read("/usr"), scratch("/tmp"), write("/tmp/it's mine"), hidden("/usr/x")],
  folder: "/tmp/it's mine",
  env: { PATH: "/usr/bin" },
};

it("becomes arguments for bubblewrap", () => {
  const args = renderBubblewrap(plan, {
    network: false,
    scratchBytesMax: 1_000,
    lockNamespaces: true,
  });
  expect(args.join(" ")).toMatch(/^--unshare-all --unshare-user --disable-userns --die-with-parent --new-session/);
  expect(args.join(" ")).toContain(
    "--ro-bind /usr /usr --size 1000 --perms 1777 --tmpfs /tmp --bind /tmp/it's mine /tmp/it's mine",
  );
  expect(args.slice(-2)).toEqual(["--chdir", "/tmp/it's mine"]);
  const open = renderBubblewrap(plan, {
    network: true,
    scratchBytesMax: 1_000,
    lockNamespaces: false,
  });
  expect(open).toContain("--share-net");
  expect(open).not.toContain("--disable-userns");
});

it("becomes a script with as few calls of mount as possible", () => {
  const mountFlagsOf = (path: string): string[] => (path === "/usr" ? ["noexec"] : []);
  const script = renderMountScript(plan, { scratchBytesMax: 1_000, loopback: null, mountFlagsOf });
  expect(script).toContain("/usr /sys/usr none rbind,ro,nosuid,nodev,noexec 0 0");
  expect(script).toContain(quote("/tmp/it's\\040mine /sys/tmp/it's\\040mine none rbind,rw,nosuid,nodev 0 0"));
  expect(script.match(/mount -n -a/g)).toHaveLength(2);
  expect(script).toContain("exec setpriv --bounding-set=-all");
});

it.each(["a", "a b", "it's", "$(x)", "`x`", "a\nb", "", '"'])("quotes %j for a shell", (text) => {
  expect(quote(text)).toMatch(/^('.*'|[\w/.,:@%+=-]+)$/s);
});
