import { spawn } from "node:child_process";
import { devNull } from "node:os";

export interface GitCall {
  /** Git's own directory; passed explicitly, so that no repository is searched for from `cwd`. */
  gitDir?: string;
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** Read the configuration of the user and of the system, as the operator's own git does. */
  withUserConfig?: boolean;
}

export class GitFailed extends Error {
  override readonly name = "GitFailed";
}

const timeoutMs = 120_000;
const maxOutputBytes = 256 * 1024 * 1024;

/**
 * Runs git and returns its standard output. Nothing that a configuration names is executed: no
 * hook, monitor, pager, editor, credential helper, signing program or maintenance, and no transport
 * but a local path. Text is latin1, so that names which are not UTF-8 come back as they were.
 */
export async function safeGit(args: readonly string[], call: GitCall = {}): Promise<string> {
  const child = spawn("git", [...neutral, ...args], {
    cwd: call.cwd ?? call.gitDir ?? "/",
    env: environmentOf(call),
    stdio: ["pipe", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const output = collect(child.stdout, maxOutputBytes, () => child.kill("SIGKILL"));
  const complaint = collect(child.stderr, 64 * 1024);
  // It may end before it has read everything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(call.input ?? "", "latin1");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new GitFailed(`git could not be started: ${error.message}`)),
    );
    child.once("close", (exitCode) => resolve(exitCode));
  });
  if (code === 0 && !output.isCut()) return output.text();
  const [said = "it did not say why"] = complaint.text().trim().split("\n").slice(-1);
  throw new GitFailed(`git ${args[0]} failed: ${said}`);
}

/** The answer of a command that says no by failing. */
export async function gitOrUndefined(
  args: readonly string[],
  call: GitCall,
): Promise<string | undefined> {
  try {
    return await safeGit(args, call);
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
}

const settings = {
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "core.pager": "cat",
  "core.editor": "false",
  "core.sshCommand": "false",
  "core.askPass": "",
  "core.attributesFile": devNull,
  "core.alternateRefsCommand": "true",
  "credential.helper": "",
  "diff.ignoreSubmodules": "all",
  "submodule.recurse": "false",
  "fetch.recurseSubmodules": "false",
  "fetch.writeCommitGraph": "false",
  "fetch.fsckObjects": "true",
  "transfer.fsckObjects": "true",
  "commit.gpgSign": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "protocol.allow": "never",
  "protocol.file.allow": "always",
};

const neutral = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);

const userVariables = ["HOME", "XDG_CONFIG_HOME"];

function environmentOf({ gitDir, env, withUserConfig = false }: GitCall): Record<string, string> {
  const isolated = {
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    // Versions before 2.32 find the user's configuration by these only.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
  };
  return {
    ...inherited(["PATH", "TMPDIR", ...(withUserConfig ? userVariables : [])]),
    ...(withUserConfig ? {} : isolated),
    LC_ALL: "C",
    GIT_CONFIG_COUNT: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    ...(gitDir && { GIT_DIR: gitDir }),
    ...env,
  };
}

function inherited(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

interface Collected {
  text(): string;
  isCut(): boolean;
}

function collect(stream: NodeJS.ReadableStream, maxBytes: number, onLimit?: () => void): Collected {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else onLimit?.();
  });
  return {
    text: () => Buffer.concat(chunks).toString("latin1"),
    isCut: () => bytes > maxBytes,
  };
}
