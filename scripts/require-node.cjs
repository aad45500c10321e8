// Loaded before a script (`node -r`): plain JavaScript, so that an old Node can still say what is wrong with it.
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

if (!process.features.typescript) {
  process.stderr.write(
    `troupe: a checkout needs a Node that runs TypeScript (22.18 or newer, 24 is brought along); this is ${process.version}\n` +
      "fix: npx -y pnpm@12 install   (puts Node 24 into node_modules/.bin; then use `npx -y pnpm@12 troupe`)\n",
  );
  process.exit(1);
}

// Stripping the types of the scripts anew would cost each `pnpm troupe` 30 ms.
enableCompileCache(join(__dirname, "..", "node_modules", ".cache", "troupe", "compiled"));
