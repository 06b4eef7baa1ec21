import { type ProgramEnd, runToEnd } from "./sweep/run-to-end.ts";
import { maskCredentials, type RepoAccess } from "./workspace-repo.ts";

/** Git without questions, and without what our own surroundings would have it believe. */
export async function runGit(
  args: string[],
  cwd: string,
  signal: AbortSignal,
  header?: RepoAccess["header"],
): Promise<ProgramEnd> {
  const env = { ...inherited(), ...silent, ...(header && asConfig(header)) };
  return await runToEnd({ file: "git", args, cwd, env }, signal);
}

/** What git itself said, in few words. */
export function gitsWords(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const told = lines.filter((line) => line && !/^(Cloning into|warning:|hint:)/.test(line));
  return maskCredentials(told.slice(0, 3).join(" "));
}

const passedOn = [
  ...["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME"],
  ...["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
];

const silent = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  // Empty, not absent: absent would leave it to the configuration to name a program that asks.
  GIT_ASKPASS: "",
  SSH_ASKPASS: "",
  SSH_ASKPASS_REQUIRE: "never",
  GCM_INTERACTIVE: "never",
};

function inherited(): Record<string, string> {
  const given = passedOn.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function asConfig({ scope, value }: NonNullable<RepoAccess["header"]>): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${scope}.extraHeader`,
    GIT_CONFIG_VALUE_0: value,
  };
}
