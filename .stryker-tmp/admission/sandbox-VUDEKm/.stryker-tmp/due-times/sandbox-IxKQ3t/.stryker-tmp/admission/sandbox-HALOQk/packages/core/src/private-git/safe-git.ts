import { spawn } from "node:child_process";
import { devNull } from "node:os";

export interface GitCall {
  /** The git directory; passed explicitly, so that git does not search for one from `cwd`. */
  gitDir?: string;
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** Also read the user's and the system's configuration, like the operator's git. */
  withUserConfig?: boolean;
}

export class GitFailed extends Error {
  override readonly name = "GitFailed";
}

const timeoutMs = 120_000;
const maxOutputBytes = 256 * 1024 * 1024;

/**
 * Runs git and returns its stdout. Programs from the configuration are not executed: no hooks,
 * monitors, pagers, editors, credential helpers, signing programs or maintenance. The only allowed
 * transport is a local path. Text is latin1, so that names that are not UTF-8 stay intact.
 */
export async function safeGit(args: readonly string[], gitCall: GitCall = {}): Promise<string> {
  const child = spawn("git", [...neutralArgs, ...args], {
    cwd: gitCall.cwd ?? gitCall.gitDir ?? "/",
    env: gitEnvironment(gitCall),
    stdio: ["pipe", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const output = collectOutput(child.stdout, maxOutputBytes, () => child.kill("SIGKILL"));
  const errorOutput = collectOutput(child.stderr, 64 * 1024);
  // It may exit before it has read all input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(gitCall.input ?? "", "latin1");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new GitFailed(`git could not be started: ${error.message}`)),
    );
    child.once("close", (exitCode) => resolve(exitCode));
  });
  if (code === 0 && !output.isTruncated()) return output.text();
  const [reason = "no reason given"] = errorOutput.text().trim().split("\n").slice(-1);
  throw new GitFailed(`git ${args[0]} failed: ${reason}`);
}

/** The output of a command; undefined if it fails. */
export async function gitOrUndefined(
  args: readonly string[],
  gitCall: GitCall,
): Promise<string | undefined> {
  try {
    return await safeGit(args, gitCall);
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
}

const neutralSettings = {
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

const neutralArgs = Object.entries(neutralSettings).flatMap(([key, value]) => [
  "-c",
  `${key}=${value}`,
]);

const userVariables = ["HOME", "XDG_CONFIG_HOME"];

function gitEnvironment({ gitDir, env, withUserConfig = false }: GitCall): Record<string, string> {
  const isolated = {
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    // Versions before 2.32 ignore GIT_CONFIG_GLOBAL and use these instead.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
  };
  return {
    ...pickEnv(["PATH", "TMPDIR", ...(withUserConfig ? userVariables : [])]),
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

function pickEnv(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

interface CollectedOutput {
  text(): string;
  isTruncated(): boolean;
}

function collectOutput(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  onLimit?: () => void,
): CollectedOutput {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else onLimit?.();
  });
  return {
    text: () => Buffer.concat(chunks).toString("latin1"),
    isTruncated: () => bytes > maxBytes,
  };
}

export interface ConfigEntry {
  /** The file it was read from; undefined if it is not from a file. */
  file: string | undefined;
  /** Section and variable in lower case, as git prints them. */
  key: string;
  value: string;
}

/** All configuration values as git reads them, including included files. */
export async function listConfig(
  gitCall: GitCall,
  selection: readonly string[] = [],
): Promise<ConfigEntry[]> {
  const args = ["config", ...selection, "--includes", "--list", "--show-origin", "-z"];
  return parseConfigList(await safeGit(args, gitCall));
}

/** Parses `file:<path> NUL <key> LF <value> NUL`; a key without a value has no line feed. */
function parseConfigList(latin1: string): ConfigEntry[] {
  const parts = Buffer.from(latin1, "latin1").toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [origin = "", text = ""] = parts.slice(index, index + 2);
    const end = text.indexOf("\n");
    const isFile = origin.startsWith("file:");
    if (origin.startsWith("command line:")) continue;
    entries.push({
      file: isFile ? origin.slice("file:".length) : undefined,
      key: end < 0 ? text : text.slice(0, end),
      value: end < 0 ? "true" : text.slice(end + 1),
    });
  }
  return entries;
}
