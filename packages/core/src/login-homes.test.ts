import { expect, test } from "vitest";
import { loginHomes } from "./login-homes.ts";

test("the homes of people are those of root and of users with a shell", () => {
  const passwd = [
    "root:x:0:0:root:/root:/bin/bash",
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
    "ada:x:1000:1000:Ada,,,:/home/ada/:/bin/zsh",
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
    "odd:x:1001:1001::/:/bin/sh",
    "",
  ].join("\n");
  expect(loginHomes(passwd)).toEqual(["/root", "/home/ada"]);
});
