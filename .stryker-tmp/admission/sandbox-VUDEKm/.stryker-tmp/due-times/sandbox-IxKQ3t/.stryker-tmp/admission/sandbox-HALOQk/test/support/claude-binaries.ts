import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { testSubset } from "./test-subset.ts";

/** The binary that the SDK bundles (2.1.325) and the one of the CLI package (2.1.197). */
export type ClaudeVersion = "325" | "197";

export const allVersions: ClaudeVersion[] = ["325", "197"];
export const claudeVersions = testSubset(allVersions, 1);

const packages = {
  "325": { owner: "@anthropic-ai/claude-agent-sdk", binary: "claude-agent-sdk" },
  "197": { owner: "@anthropic-ai/claude-code/package.json", binary: "claude-code" },
};

export function claudeBinary(version: ClaudeVersion): string {
  const { owner, binary } = packages[version];
  const requireHere = createRequire(import.meta.url);
  const requireFromOwner = createRequire(requireHere.resolve(owner));
  const platform = `${process.platform}-${process.arch}`;
  const manifest = requireFromOwner.resolve(`@anthropic-ai/${binary}-${platform}/package.json`);
  return join(dirname(manifest), "claude");
}

export interface IsolatedEnvironment {
  env: Record<string, string>;
  /** The folder around all others. */
  root: string;
  home: string;
  configDir: string;
  /** An empty working directory. */
  workspace: string;
  dispose(): void;
}

/** A separate home and a minimal environment without the user's settings. */
export function createIsolatedEnvironment(extra: Record<string, string> = {}): IsolatedEnvironment {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "herdctl-claude-")));
  const [home, workspace, temp] = [join(root, "home"), join(root, "work"), join(root, "tmp")];
  const configDir = join(home, ".claude");
  for (const folder of [configDir, workspace, temp]) mkdirSync(folder, { recursive: true });
  const env = {
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: temp,
    CLAUDE_CONFIG_DIR: configDir,
    // Without it the binary refuses bypassPermissions as root.
    IS_SANDBOX: "1",
    ...extra,
  };
  const dispose = () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  return { env, root, home, configDir, workspace, dispose };
}

export interface ClaudeRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /**
   * The lines of stdout that are JSON objects, as `--output-format json` and `stream-json` print
   * them.
   */
  messages: ClaudeMessage[];
  result: ClaudeMessage | undefined;
}

interface ClaudeMessage {
  type?: string;
  subtype?: string;
  result?: string;
  session_id?: string;
  is_error?: boolean;
  total_cost_usd?: number;
  [other: string]: unknown;
}

export interface ClaudeOptions {
  version: ClaudeVersion;
  env: Record<string, string>;
  cwd: string;
  /** Called with the started process, for tests that kill it. */
  onStart?: (child: ChildProcess) => void;
}

/** Runs the real binary to its end, as `claude -p <args> --output-format stream-json --verbose`. */
export async function runClaude(args: string[], options: ClaudeOptions): Promise<ClaudeRun> {
  const all = ["-p", ...args, "--output-format", "stream-json", "--verbose"];
  const child = spawn(claudeBinary(options.version), all, {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  options.onStart?.(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output.stderr += text;
  });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const messages = parseLines(output.stdout);
      const result = messages.findLast((message) => message.type === "result");
      resolve({ code, signal, ...output, messages, result });
    });
  });
}

function parseLines(text: string): ClaudeMessage[] {
  return text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
}
