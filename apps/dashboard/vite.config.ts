import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const { MOCK } = loadEnv(mode, import.meta.dirname, "MOCK");
  return {
    plugins: [react()],
    build: {
      target: "baseline-widely-available",
      // The daemon's policy allows no inline script: everything is a file with a hashed name.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    // For `vite dev` only.
    server: MOCK ? { proxy: { "/api": MOCK } } : {},
  };
});
