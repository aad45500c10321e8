import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "baseline-widely-available",
    // The daemon's policy allows no inline script and no data: outside images: everything is a file with a hashed name.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
