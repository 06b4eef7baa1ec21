// What `npm install herdctl` puts on the disk, beside the Agent SDK that it cannot do without.
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const cli = resolve(import.meta.dirname, "../packages/cli");

export function installSize() {
  const all = packagesOf(cli);
  const sdk = packagesOf(findFrom(cli, "@herdctl/core", "@anthropic-ai/claude-agent-sdk"));
  const own = [...all].filter((folder) => !folder.includes("node_modules"));
  const row = (what, folders) => ({
    what,
    beside: "the Agent SDK with its claude",
    unit: "MB",
    ours: [megabytes(folders)],
    bare: [megabytes(sdk)],
  });
  return [
    row(`installed, ${all.size} packages`, all),
    row("installed, our own packages", own),
    row(
      "installed, what we add to the SDK",
      [...all].filter((folder) => !sdk.has(folder)),
    ),
  ];
}

/** The folders of a package and of all that it needs. */
function packagesOf(folder, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies = {}, optionalDependencies = {} } = descriptionOf(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const needed = find(folder, name);
    // Of optional ones only those for this platform are there.
    if (needed) packagesOf(needed, found);
  }
  return found;
}

function findFrom(folder, ...names) {
  return names.reduce((at, name) => find(at, name), folder);
}

function find(folder, name) {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    try {
      return realpathSync(join(at, "node_modules", name));
    } catch {
      // Perhaps further up.
    }
  }
  return undefined;
}

/** Of our own packages what is published, of others all. */
function megabytes(folders) {
  const bytes = [...folders].map((folder) => {
    const published = folder.includes("node_modules") ? ["."] : (descriptionOf(folder).files ?? []);
    return published.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  });
  return bytes.reduce((sum, one) => sum + one, 0) / 2 ** 20;
}

function sizeOf(path) {
  const entries = statSync(path).isDirectory() ? readdirSync(path, { withFileTypes: true }) : [];
  if (entries.length === 0) return statSync(path).size;
  return entries
    .filter((entry) => entry.name !== "node_modules" && !entry.isSymbolicLink())
    .reduce((sum, entry) => sum + sizeOf(join(path, entry.name)), 0);
}

function descriptionOf(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
