import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readEnvironment } from "@herdctl/config";
import { detectProject, type Project } from "./detect-project.ts";

/** What `init` finds on this machine and in this folder. */
export interface Surroundings {
  signIn: SignIn;
  /** The repository that the folder is part of. */
  git?: { branch: string };
  project?: Project;
  /** Version of the Docker engine, if it answers. */
  docker?: string;
}

export interface SignIn {
  /** A subscription: the login of `claude`, or its long-lived token. */
  subscription: boolean;
  /** The variable with an API key. */
  keyVariable?: string;
}

export async function readSurroundings(cwd: string, env: NodeJS.ProcessEnv): Promise<Surroundings> {
  const environment = readEnvironment(cwd, env);
  const [signIn, git, docker] = await Promise.all([
    readSignIn(environment),
    readGit(cwd, env),
    readDocker(environment),
  ]);
  const project = detectProject((name) => readIfExists(join(cwd, name)));
  return {
    signIn,
    ...(git !== undefined && { git }),
    ...(project !== undefined && { project }),
    ...(docker !== undefined && { docker }),
  };
}

async function readSignIn(environment: NodeJS.ProcessEnv): Promise<SignIn> {
  const { hasSubscription } = await import("@herdctl/core/internal");
  const keyVariable = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"].find(
    (name) => environment[name],
  );
  return {
    subscription: hasSubscription(environment),
    ...(keyVariable !== undefined && { keyVariable }),
  };
}

/** A repository that holds the whole home, as some keep their settings, is not a project. */
async function readGit(cwd: string, env: NodeJS.ProcessEnv): Promise<Surroundings["git"]> {
  const git = (...args: string[]) =>
    new Promise<string | undefined>((resolve) => {
      execFile("git", args, { cwd, env, timeout: gitTimeoutMs }, (error, stdout) =>
        resolve(error ? undefined : stdout.trim()),
      );
    });
  const root = await git("rev-parse", "--show-toplevel");
  if (root === undefined || (root === (env.HOME ?? homedir()) && root !== cwd)) return undefined;
  return { branch: (await git("symbolic-ref", "--short", "HEAD")) ?? "detached" };
}

async function readDocker(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { dockerVersion } = await import("@herdctl/core/internal");
  const timeout = pause(dockerTimeoutMs, undefined, { ref: false });
  return await Promise.race([dockerVersion(environment), timeout]);
}

const gitTimeoutMs = 5_000;
const dockerTimeoutMs = 2_000;

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
