import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Keys and settings of whoever runs the tests must not change a result.
    env: {
      ANTHROPIC_API_KEY: "",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      NATS_URL: "",
      TROUPE_HOME: "",
      TROUPE_MODEL: "",
    },
  },
});
