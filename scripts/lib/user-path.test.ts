import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { addToPathCommand, isOnPath, userBinFolder } from "./user-path.ts";

test.each([
  [{}, join(homedir(), ".local", "bin")],
  [{ XDG_BIN_HOME: "/programs" }, "/programs"],
  [{ XDG_BIN_HOME: "relative" }, join(homedir(), ".local", "bin")],
])("the folder for programs with %j", (env, folder) => {
  expect(userBinFolder(env)).toBe(folder);
});

test("a folder is on the PATH with or without a slash at its end", () => {
  const env = { PATH: ["/usr/bin", "/home/ada/.local/bin/"].join(delimiter) };
  expect(isOnPath("/home/ada/.local/bin", env)).toBe(true);
  expect(isOnPath("/home/ada/.local", env)).toBe(false);
  expect(isOnPath("/home/ada", {})).toBe(false);
});

test.each([
  ["/bin/bash", "linux", `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.bashrc`],
  ["/bin/bash", "darwin", `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.bash_profile`],
  ["/usr/bin/zsh", "darwin", `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.zshrc`],
  ["/usr/bin/fish", "linux", 'fish_add_path "$HOME/.local/bin"'],
  [undefined, "linux", `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.profile`],
] as const)("the command that adds a folder to the PATH of %s on %s", (shell, platform, command) => {
  expect(addToPathCommand("/home/ada/.local/bin", { shell, platform, home: "/home/ada" })).toBe(command);
});

test("the command for Windows changes the user's Path", () => {
  const command = addToPathCommand("C:\\it's", { shell: undefined, platform: "win32", home: "C:\\Users\\ada" });
  expect(command).toContain("SetEnvironmentVariable('Path'");
  expect(command).toContain("';C:\\it''s'");
});
