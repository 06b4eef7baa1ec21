import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { checkout, waitForExit } from "../cli/run-herdctl.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import { isWide } from "../support/test-subset.ts";

/** Packs what this checkout would publish into a temporary folder. */
export async function packAll(onCleanup: RegisterCleanup, ...flags: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-release-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  await runOrThrow("node", [join(checkout, "scripts/release.mjs"), folder, ...flags]);
  return folder;
}

export function tarballsIn(release: string): string[] {
  return readdirSync(release)
    .filter((name) => name.endsWith(".tgz"))
    .map((name) => join(release, name));
}

/** The files of a tarball by their paths in the package. */
export function readTarball(tarball: string): Map<string, string> {
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

/** Installs these tarballs with npm into an empty folder with a separate home. */
export async function installInto(folder: string, tarballs: string[]): Promise<void> {
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
  await runOrThrow("npm", args, { cwd: folder, env: npmEnv(folder) });
}

/**
 * Takes only the registry access from the user's npm settings. In the wide round the cache is empty
 * as well; otherwise npm's cache is used, which halves the duration.
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
export async function nodeBinFolder(version: string): Promise<string> {
  return (await runOrThrow("node", [join(checkout, "scripts/cached-node.mjs"), version])).trim();
}

async function runOrThrow(program: string, args: string[], options: object = {}): Promise<string> {
  const { code, stdout, stderr } = await waitForExit(spawn(program, args, options));
  if (code === 0) return stdout;
  throw new Error(`${program} ${args[0]} ended with ${code}:\n${stdout}\n${stderr}`);
}
