// Records the first job of a new user in a terminal as an animated SVG: a git repository, a Claude
// login, and the rehearsal model instead of the real one. Needs a built checkout:
//   node scripts/record-first-job.mjs
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { startRehearsal } from "@herdctl/rehearsal";
import { renderAnimatedSvg } from "./recording/animated-svg.mjs";
import { recordFilm } from "./recording/record-film.mjs";
import { record } from "./recording/record-terminal.mjs";

const root = resolve(import.meta.dirname, "..");
const size = { columns: 100, rows: 34 };
const commands = ["herdctl init --yes", "herdctl trigger reviewer --wait", "herdctl jobs"];
const file = resolve(root, "docs/pictures/first-job.svg");

const folder = mkdtempSync(join(tmpdir(), "herdctl-recording-"));
const rehearsal = await startRehearsal({ script: reviewScript() });
try {
  const chunks = await record({
    command: `sh ${join(folder, "type.sh")}`,
    cwd: createRepository(),
    env: environment(),
    leaveAt: "SUMMARY",
    ...size,
  });
  if (!chunks.some(({ text }) => text.includes("success"))) throw new Error("the job failed");
  const seconds = chunks.at(-1).at - chunks[0].at;
  const film = await recordFilm(commands[0], chunks, size);
  const title = `${commands.length} commands to the first result in a git repository with a Claude login`;
  const picture = renderAnimatedSvg(film, { title, ...size });
  writeFileSync(file, picture);
  process.stdout.write(
    `${file}: ${Math.round(picture.length / 1000)} kB; the commands took ${seconds.toFixed(1)} s\n`,
  );
} finally {
  await rehearsal.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A small project with a test that passes, and the script that types the commands. */
function createRepository() {
  const cwd = join(folder, "shop");
  const manifest = { name: "shop", type: "module", scripts: { test: "node --test" } };
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(cwd, "price.mjs"), "export const total = (a, b) => a + b;\n");
  writeFileSync(
    join(cwd, "price.test.mjs"),
    'import { test } from "node:test";\ntest("adds two prices", () => {});\n',
  );
  const git = (...args) => execFileSync("git", args, { cwd });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=dev", "-c", "user.email=dev@example.org", "commit", "-qm", "Add prices");
  const [first, ...others] = commands;
  const typed = others.map(
    (command) => `printf '\\n\\033[32m$\\033[39m ${command}\\n'; ${command}`,
  );
  writeFileSync(join(folder, "type.sh"), `${[first, ...typed, "sleep 5"].join("\n")}\n`);
  return cwd;
}

function environment() {
  const configDir = join(folder, "home/.claude");
  mkdirSync(configDir, { recursive: true });
  const login = {
    accessToken: "rehearsal",
    refreshToken: "rehearsal",
    expiresAt: Date.now() + 3_600_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max",
  };
  writeFileSync(join(configDir, ".credentials.json"), JSON.stringify({ claudeAiOauth: login }), {
    mode: 0o600,
  });
  const { ANTHROPIC_API_KEY: _, ...model } = rehearsal.env();
  // Without `node_modules/.bin`, so that the `claude` of the Agent SDK runs, as for a new user.
  const path = [join(root, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");
  const { LANG = "C.UTF-8" } = process.env;
  return {
    ...{ PATH: path, LANG, HOME: join(folder, "home") },
    ...{ TMPDIR: tmpdir(), CLAUDE_CONFIG_DIR: configDir, ...model },
  };
}

function reviewScript() {
  const run = (command, description) => ({
    tools: [{ name: "Bash", input: { command, description } }],
  });
  return {
    rules: [
      {
        match: { prompt: "Review the commits" },
        replies: [
          run("git log -3 --stat", "List the latest commits"),
          run("npm test", "Run the tests"),
          { tools: [{ name: "Read", input: { file_path: join(folder, "shop/price.test.mjs") } }] },
          "price.test.mjs:2: the test asserts nothing, so it cannot fail. Compare `total(1, 2)` with 3. Nothing else stands out; all tests pass.",
        ],
      },
    ],
  };
}
