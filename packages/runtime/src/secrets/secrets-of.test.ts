/** Which values are secrets. Too few leak secrets; too many make text unreadable. */
import { describe, expect, it } from "vitest";
import { type ProviderSecrets, secretsOf } from "./secrets-of.ts";

const valuesOf = (env: NodeJS.ProcessEnv) => secretsOf({ env }).map(({ value }) => value);

describe("a variable with a secret-sounding name is a secret:", () => {
  it.each([
    "OPENAI_API_KEY",
    "OPENAI_APIKEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SMTP_PASSWD",
    "GOOGLE_CREDENTIALS",
    "NPM_AUTH",
    "SESSION_COOKIE",
    "GITLAB_PAT",
    "npm_config__authToken",
    "sshKey",
    "SIGNING_KEYS",
    "SENTRY_DSN",
    "X_PASSPHRASE",
    "BRAVE_API_KEY",
    "TAVILY_API_KEY",
  ])("%s", (name) => {
    expect(valuesOf({ [name]: "wJalrXUtnFEMI7" })).toEqual(["wJalrXUtnFEMI7"]);
  });
});

describe("not a secret:", () => {
  it.each([
    ["KEYBOARD_LAYOUT", "de-latin1-nodeadkeys"],
    ["MONKEY_ISLAND", "two-headed-monkey1"],
    ["TOKENIZERS_PARALLELISM", "some-long-value1"],
    ["GIT_AUTHOR_NAME", "Ann Example Person"],
    ["COOKIECUTTER_REPLAY", "some-long-value1"],
    ["PWD", "/srv/some/folder7"],
    ["OLDPWD", "some/other/folder"],
    ["SSH_AUTH_SOCK", "/tmp/ssh-XYZ123/agent.1"],
    ["XAUTHORITY_KEY", "/home/ann/.Xauthority"],
    ["GOOGLE_CREDENTIALS", "~/keys/account.json"],
    ["AUTH_URL", "https://auth.example.com/realms/x"],
    ["MAX_TOKENS_PER_MINUTE", "1000000000"],
    ["OPENAI_API_KEY", "lm-studio"],
    ["OPENAI_API_KEY", "ollama"],
    ["DB_PASSWORD", "postgres"],
    ["API_KEY", "--------------"],
    ["API_KEY", ""],
    ["NODE_ENV", "wJalrXUtnFEMI7"],
  ])("%s=%s", (name, value) => {
    expect(valuesOf({ [name]: value })).toEqual([]);
  });

  it("public values of the machine", () => {
    expect(valuesOf({ HOME: "/home/ann-example", SUDO_PASSWORD: "ann-example", DB_PASSWORD: "ann-example-2" })).toEqual(
      ["ann-example-2"],
    );
  });
});

it("the password in a URL, as written and decoded", () => {
  expect(valuesOf({ DATABASE_URL: "postgres://app:p%40ss-word9@db/x", HTTP_PROXY: "http://proxy:3128" })).toEqual([
    "p%40ss-word9",
    "p@ss-word9",
  ]);
  expect(valuesOf({ SENTRY_DSN: "https://0123abcd4567@sentry.example/1" })).toEqual(["0123abcd4567"]);
});

it("the keys of providers, whatever the names of their variables", () => {
  const provider: ProviderSecrets = {
    id: "acme",
    baseUrl: "https://bot:in-the-address7@acme.example/v1",
    key: "acme-key-0123",
    authToken: "acme-token-0123",
    keyVariable: "MY_LLM",
    headers: { "X-Team": "research-team-7", "X-Auth-Token": "sent-along-0123", "X-Other": "Bearer other-0123456" },
  };
  const told = secretsOf({ env: { MY_LLM: "acme-key-0123" }, providers: [provider] });
  expect(told).toEqual([
    { name: "MY_LLM", value: "acme-key-0123" },
    { name: "MY_LLM", value: "acme-token-0123" },
    { name: "acme X-Auth-Token", value: "sent-along-0123" },
    { name: "acme X-Other", value: "other-0123456" },
    { name: "acme address", value: "in-the-address7" },
  ]);
});

it("further secrets, without duplicates", () => {
  const others = [{ name: "the home's token", value: "token-0123456789" }];
  expect(secretsOf({ env: { A_TOKEN: "token-0123456789" }, others })).toEqual(others);
});
