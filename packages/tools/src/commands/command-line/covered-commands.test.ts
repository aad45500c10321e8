/** The parts of a command line that an approval for the rest of the run covers. */
import { describe, expect, test } from "vitest";
import { coveredCommands } from "./covered-commands.ts";
import { parseCommandLine } from "./parse-command-line.ts";

const covered = (line: string) => coveredCommands(parseCommandLine(line));

test.each([
  ["git log -5", ["git log"]],
  ["npm test -- a.test.ts", ["npm test"]],
  ["npm run build -- --watch", ["npm run build"]],
  ["git add src && git commit -m 'a b' | cat", ["git add", "git commit", "cat"]],
  ["echo 1; echo 2", ["echo"]],
  ["rm -rf src", ["rm -rf src"]],
  ["sh build.sh", ["sh build.sh"]],
  ["./build.sh 'a b'", ['./build.sh "a b"']],
  ["git -c core.pager=x log", ["git -c core.pager=x log"]],
  ["npm run build --prefix ../other", ["npm run build --prefix ../other"]],
  ["echo $(git push)", ["echo", "git push"]],
  ["ls >/dev/null 2>&1", ["ls"]],
])("%s", (line, parts) => {
  expect(covered(line)).toEqual(parts);
});

describe("an approval covers its own call only, if", () => {
  test.each([
    ["the program is a variable", "$PROGRAM test"],
    ["the program is a pattern", "/bin/r? x"],
    ["a word of an unknown program is not certain", "rm -rf $FOLDER"],
    ["variables are set for the command", "GIT_SSH_COMMAND=./x git fetch"],
    ["variables are set for later commands", "PATH=.; git status"],
    ["the output goes to a file", "echo 1 > .git/hooks/post-commit"],
    ["the output goes to a file of a variable", "echo 1 > $FILE"],
    ["a part of the line is unclear", "git status; if true; then rm -rf x; fi"],
    ["shells read it in different ways", "git status &>log rm -rf x"],
    ["the syntax is wrong", "git status 'x"],
    ["it has control characters", "git status\u0000"],
  ])("%s", (_, line) => {
    expect(covered(line)).toEqual([]);
  });
});
