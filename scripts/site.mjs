// Builds the site of the docs into site/dist; with --view it is shown on loopback afterwards.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { run } from "./run.mjs";
import { fillSite } from "./site/content.mjs";
import { install, step } from "./step.mjs";

const root = resolve(import.meta.dirname, "..");
const site = resolve(root, "site");
const astro = resolve(site, "node_modules/astro/astro.js");
// Astro writes variables that it finds, such as DEV, into the pages: it is shown no other ones.
const { PATH, HOME } = process.env;
const env = { PATH, HOME, NODE_ENV: "production", ASTRO_TELEMETRY_DISABLED: "1" };

step({
  stamp: "site/node_modules/.herdctl-installed",
  files: ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"].map((name) => `site/${name}`),
  title: "installing what makes the site",
  commands: [install],
  folder: "site",
});
const { pages } = fillSite(root);
await run(process.execPath, [astro, "build", "--force", "--silent"], { cwd: site, env });
process.stdout.write(`site/dist has the site: ${pages.length} pages and a first one.\n`);

if (process.argv.includes("--view")) {
  const args = [astro, "preview", "--host", "127.0.0.1"];
  spawn(process.execPath, args, { cwd: site, env, stdio: "inherit" });
} else {
  process.stdout.write("To see it: npm run docs -- --view. Any web server can show that folder.\n");
}
