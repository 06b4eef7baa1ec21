// Builds the documentation site in site/dist. With --view, serves it on loopback afterwards.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { run } from "./run-program.mjs";
import { installCommand, runStep } from "./run-step.mjs";
import { fillSite } from "./site/fill-site.mjs";

const root = resolve(import.meta.dirname, "..");
const site = resolve(root, "site");
const astro = resolve(site, "node_modules/astro/astro.js");
// Astro copies environment variables such as DEV into the pages, so it gets only these.
const { PATH, HOME } = process.env;
const env = { PATH, HOME, NODE_ENV: "production", ASTRO_TELEMETRY_DISABLED: "1" };

runStep({
  stamp: "site/node_modules/.herdctl-installed",
  files: ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"].map((name) => `site/${name}`),
  title: "installing packages of the site",
  commands: [installCommand],
  folder: "site",
});
const { pages } = fillSite(root);
await run(process.execPath, [astro, "build", "--force", "--silent"], { cwd: site, env });
process.stdout.write(`Built site/dist: ${pages.length} pages and the landing page.\n`);

if (process.argv.includes("--view")) {
  const args = [astro, "preview", "--host", "127.0.0.1"];
  spawn(process.execPath, args, { cwd: site, env, stdio: "inherit" });
} else {
  process.stdout.write("To view it, run `npm run docs -- --view`, or serve the folder.\n");
}
