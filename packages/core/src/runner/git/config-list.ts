import { type GitCall, safeGit } from "./safe-git.ts";

export interface ConfigEntry {
  /** The file it was read from; undefined for what was given on the command line. */
  file: string | undefined;
  /** Section and variable in lower case, as git prints them. */
  key: string;
  value: string;
}

/** Every value that git knows, included files as well, as git itself reads them. */
export async function listConfig(
  call: GitCall,
  selection: readonly string[] = [],
): Promise<ConfigEntry[]> {
  const args = ["config", ...selection, "--includes", "--list", "--show-origin", "-z"];
  return parseConfigList(await safeGit(args, call));
}

/** `file:<path> NUL <key> LF <value> NUL`; a key without value has no line feed. */
function parseConfigList(latin1: string): ConfigEntry[] {
  const parts = Buffer.from(latin1, "latin1").toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [origin = "", text = ""] = parts.slice(at, at + 2);
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
