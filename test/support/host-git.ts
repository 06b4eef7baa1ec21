import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Stage } from "./stage.ts";

export interface HostGit {
  workspace: string;
  env: Record<string, string | undefined>;
  git(...args: string[]): string;
  write(path: string, text: string): void;
}

/** The operator's own git in a folder, which does not mind whose the folder is. */
export function hostGit(env: Stage["env"], workspace: string): HostGit {
  const trusting = {
    ...env,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    GIT_EDITOR: "true",
  };
  return {
    workspace,
    env: trusting,
    git: (...args) =>
      execFileSync("git", args, {
        cwd: workspace,
        env: trusting,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }).trim(),
    write: (path, text) => {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
      chmodSync(join(workspace, path), 0o755);
    },
  };
}

/** Makes a repository with one commit in it. */
export function makeRepository(env: Stage["env"], workspace: string): HostGit {
  const host = hostGit(env, workspace);
  host.git("init", "-q", "-b", "main");
  host.git("config", "user.name", "operator");
  host.git("config", "user.email", "operator@example.org");
  host.write("file", "one\n");
  host.git("add", "file");
  host.git("commit", "-qm", "one");
  return host;
}
