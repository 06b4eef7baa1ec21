import { resolve } from "node:path";
import { type ProgramResult, runProgram } from "../process-tree/run-program.ts";

/** Runs git non-interactively, with an allow-list of environment variables. */
export async function runGit(
  args: string[],
  cwd: string,
  signal: AbortSignal,
  header?: RepoAccess["header"],
): Promise<ProgramResult> {
  const env = { ...inheritedEnv(), ...nonInteractiveEnv, ...(header && headerAsGitConfig(header)) };
  return await runProgram({ file: "git", args, cwd, env }, signal);
}

/** The first lines of git's error messages, without credentials. */
export function summarizeGitError(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const messages = lines.filter((line) => line && !/^(Cloning into|warning:|hint:)/.test(line));
  return maskCredentials(messages.slice(0, 3).join(" "));
}

const inheritedVariables = [
  ...["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME"],
  ...["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
];

const nonInteractiveEnv = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  // Empty rather than absent: if absent, git would use the program from its configuration.
  GIT_ASKPASS: "",
  SSH_ASKPASS: "",
  SSH_ASKPASS_REQUIRE: "never",
  GCM_INTERACTIVE: "never",
};

function inheritedEnv(): Record<string, string> {
  const entries = inheritedVariables.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function headerAsGitConfig({
  scope,
  value,
}: NonNullable<RepoAccess["header"]>): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${scope}.extraHeader`,
    GIT_CONFIG_VALUE_0: value,
  };
}

/** Whether two URLs refer to the same repository, regardless of HTTPS or SSH, token, and `.git` suffix. */
export function isSameRepo(repo: string, other: string, folder: string): boolean {
  return canonicalRepo(repo, folder) === canonicalRepo(other, folder);
}

export function maskCredentials(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, "$1***@");
}

export interface RepoAccess {
  url: string;
  /** HTTP header for URLs that start with `scope`. */
  header?: { scope: string; value: string };
}

/**
 * Moves a token from the URL to a header. In the URL, every user could see it in the process list, and
 * it would be stored in the clone, where every tool can read it.
 */
export function splitCredentials(repo: string): RepoAccess {
  const parsed = /^https?:\/\//i.test(repo) && URL.canParse(repo) ? new URL(repo) : undefined;
  if (parsed === undefined || (parsed.username === "" && parsed.password === "")) {
    return { url: repo };
  }
  const credentials = [parsed.username, parsed.password].map(decodeOrKeep).join(":");
  parsed.username = "";
  // defence: repository-token-header
  parsed.password = "";
  const value = `Authorization: Basic ${Buffer.from(credentials).toString("base64")}`;
  return { url: parsed.href, header: { scope: `${parsed.origin}/`, value } };
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function canonicalRepo(repo: string, folder: string): string {
  const withoutSuffix = repo.replace(/(\.git)?\/*$/, "");
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?(.*)$/i.exec(withoutSuffix);
  if (url?.[1] !== undefined) return url[1];
  const ssh = /^(?:[^/@:]+@)?([^/:]+):\/*(.*)$/.exec(withoutSuffix);
  if (ssh) return `${ssh[1]}/${ssh[2]}`;
  return resolve(folder, withoutSuffix);
}
