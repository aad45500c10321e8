// Loaded before a script (`node -r`): plain JavaScript, so that an old Node can still say what is wrong with it.
const [major, minor] = process.versions.node.split(".").map(Number);
const newEnough = major > 22 || (major === 22 && minor >= 13);
if (!newEnough || !process.features.typescript) {
  process.stderr.write(
    `troupe: a checkout needs a Node that runs TypeScript (22.18 or newer, 24 is brought along); this is ${process.version}\n` +
      "fix: npx -y pnpm@12 install   (puts Node 24 into node_modules/.bin; then use `npx -y pnpm@12 troupe`)\n",
  );
  process.exit(1);
}
