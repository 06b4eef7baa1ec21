import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { execa } from "execa";
import type { WorkingDirectory } from "../config/resolve.ts";

type Clone = NonNullable<WorkingDirectory["clone"]>;
type Cloned = { kind: "ready" } | { kind: "problem"; message: string; hint: string };

/**
 * A clone that exists is left as it is: what an agent has in work there is never fetched over or
 * reset. A new one is made beside its place and renamed into it, so that a half clone never looks
 * like a whole one; of two that are made at once the second finds the first and goes.
 */
export async function cloneInto(path: string, clone: Clone, signal: AbortSignal): Promise<Cloned> {
  if (existsSync(path)) return checkOrigin(path, clone);
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.cloning-${randomBytes(4).toString("hex")}`;
  try {
    const failed = await git(cloneArguments(clone, draft), signal);
    if (failed !== undefined)
      return problem(`${masked(clone.repo)} could not be cloned: ${failed}`, cloneHint);
    await rename(draft, path).catch((error) => {
      if (!existsSync(path)) throw error;
    });
    return { kind: "ready" };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const cloneHint =
  "Check `repo` and `branch`, and that git may read it without asking for a password.";

function cloneArguments({ repo, branch, depth }: Clone, into: string): string[] {
  return [
    "clone",
    "--quiet",
    ...(branch === undefined ? [] : ["--branch", branch]),
    ...(depth === undefined ? [] : ["--depth", String(depth)]),
    "--",
    repo,
    into,
  ];
}

async function checkOrigin(path: string, { repo }: Clone): Promise<Cloned> {
  const { stdout, failed } = await runGit(["-C", path, "config", "--get", "remote.origin.url"]);
  const origin = stdout.trim();
  if (!failed && origin === repo) return { kind: "ready" };
  const found = failed ? "no clone" : `a clone of ${masked(origin)}`;
  return problem(
    `${path} is ${found}, not of ${masked(repo)}.`,
    "Move it away, or choose another `root`.",
  );
}

async function git(args: string[], signal: AbortSignal): Promise<string | undefined> {
  const { failed, words } = await runGit(args, signal);
  return failed ? masked(words.trim().split("\n").slice(0, 3).join(" ")) : undefined;
}

async function runGit(args: string[], cancelSignal?: AbortSignal) {
  const result = await execa("git", args, {
    env: gitEnvironment(),
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    cancelSignal,
  });
  const words =
    result.code === "ENOENT" ? "git is not installed" : result.stderr || result.shortMessage || "";
  return { failed: result.failed, stdout: result.stdout ?? "", words };
}

/** Never a question, and nothing of a repository that we ourselves may be running in. */
function gitEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("GIT_") || name.startsWith("GIT_SSL"),
  );
  return {
    ...Object.fromEntries(inherited),
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    LC_ALL: "C",
  };
}

function masked(text: string): string {
  return text.replaceAll(/(:\/\/)[^/@\s]+@/g, "$1•••@");
}

function problem(message: string, hint: string): Cloned {
  return { kind: "problem", message, hint };
}
