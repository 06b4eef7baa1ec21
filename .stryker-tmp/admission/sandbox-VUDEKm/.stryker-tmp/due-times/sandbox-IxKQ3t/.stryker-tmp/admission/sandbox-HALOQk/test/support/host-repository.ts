import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestHarness } from "./harness.ts";

export interface HostRepository {
  workspace: string;
  env: Record<string, string | undefined>;
  git(...args: string[]): string;
  write(path: string, text: string): void;
}

/** The operator's git in a folder, which accepts a folder of another owner. */
export function openHostRepository(env: TestHarness["env"], workspace: string): HostRepository {
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

/** Creates a repository with one commit. */
export function createHostRepository(env: TestHarness["env"], workspace: string): HostRepository {
  const host = openHostRepository(env, workspace);
  host.git("init", "-q", "-b", "main");
  host.git("config", "user.name", "operator");
  host.git("config", "user.email", "operator@example.org");
  host.write("file", "one\n");
  host.git("add", "file");
  host.git("commit", "-qm", "one");
  return host;
}
