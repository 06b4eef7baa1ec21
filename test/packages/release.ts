import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { checkout, endOf } from "../cli/herdctl.ts";
import type { WhenOver } from "../support/folder.ts";
import { isWide } from "../support/width.ts";

/** What would be published of this checkout, in a folder that is gone when it is over. */
export async function packAll(whenOver: WhenOver, ...flags: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-release-"));
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  await must("node", [join(checkout, "scripts/release.mjs"), folder, ...flags]);
  return folder;
}

export function tarballsIn(release: string): string[] {
  return readdirSync(release)
    .filter((name) => name.endsWith(".tgz"))
    .map((name) => join(release, name));
}

/** The files of a tarball by their paths in the package. */
export function unpack(tarball: string): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-tarball-"));
  try {
    execFileSync("tar", ["-xzf", tarball, "-C", folder]);
    return filesIn(join(folder, "package"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesIn(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      return [path.slice(root.length + 1), readFileSync(path, "utf8")];
    }),
  );
}

/** An empty folder with a home of its own, into which npm has installed these tarballs. */
export async function installInto(folder: string, tarballs: string[]): Promise<void> {
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
  await must("npm", args, { cwd: folder, env: npmEnv(folder) });
}

/**
 * Nothing of this machine's user but how its npm reaches the registry. In the wide round the cache
 * is empty too; else what npm has fetched before is used, and the test takes half as long.
 */
export function npmEnv(folder: string): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name]) =>
    /^(PATH|LANG|TMPDIR|NODE_EXTRA_CA_CERTS|.*_proxy)$/i.test(name),
  );
  return {
    ...Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""])),
    HOME: join(folder, "home"),
    npm_config_userconfig: join(homedir(), ".npmrc"),
    npm_config_cache: isWide ? join(folder, "npm-cache") : join(homedir(), ".npm"),
    npm_config_update_notifier: "false",
  };
}

/** The folder of a `node` of this version. */
export async function nodeFolder(version: string): Promise<string> {
  return (await must("node", [join(checkout, "scripts/node.mjs"), version])).trim();
}

async function must(program: string, args: string[], options: object = {}): Promise<string> {
  const { code, stdout, stderr } = await endOf(spawn(program, args, options));
  if (code === 0) return stdout;
  throw new Error(`${program} ${args[0]} ended with ${code}:\n${stdout}\n${stderr}`);
}
