import type { HostRepository } from "./host-repository.ts";
import { type ConfigEntry, listConfig } from "./safe-git.ts";

/** Keys that affect how files and history are read and written, but do not execute or reveal anything. */
const harmlessKeys = new Set([
  ...["core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.ignorecase"],
  ...["core.symlinks", "core.precomposeunicode", "core.quotepath", "core.sparsecheckout"],
  ...["core.sparsecheckoutcone", "core.commentchar", "core.bigfilethreshold"],
  ...["init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.followtags"],
  ...["fetch.prune", "merge.conflictstyle", "merge.ff", "rebase.autosquash", "rebase.autostash"],
  ...["diff.algorithm", "diff.renames", "log.date", "i18n.commitencoding", "tag.sort"],
]);
const harmlessPatterns = [
  /^branch\..+\.(remote|merge|rebase)$/s,
  /^remote\..+\.(url|pushurl|fetch|tagopt|prune)$/s,
];
const identityKeys = new Set(["user.name", "user.email"]);

/** The configuration of a private git directory, without commands, paths or credentials. */
export async function privateConfig(repository: HostRepository): Promise<string> {
  const { gitDir, config, objectFormat } = repository;
  // The agent gets the identity configured in the repository, but not the user's global one.
  const localConfig = await listConfig({ gitDir }, ["--local"]);
  const copied = [
    ...config.filter(({ key }) => isHarmless(key)),
    ...localConfig.filter(({ key }) => identityKeys.has(key)),
  ];
  const isSha256 = objectFormat === "sha256";
  const entries: Pick<ConfigEntry, "key" | "value">[] = [
    { key: "core.repositoryformatversion", value: isSha256 ? "1" : "0" },
    ...(isSha256 ? [{ key: "extensions.objectformat", value: "sha256" }] : []),
    { key: "core.bare", value: "false" },
    { key: "core.logallrefupdates", value: "true" },
    // Repositories of submodules are not mounted in the container.
    { key: "submodule.recurse", value: "false" },
    { key: "diff.ignoresubmodules", value: "all" },
    ...copied.map(({ key, value }) => ({
      key,
      value: /* defence: no-remote-credentials */ withoutCredentials(key, value),
    })),
  ];
  return entries.map(configLine).join("");
}

function isHarmless(key: string): boolean {
  return harmlessKeys.has(key) || harmlessPatterns.some((pattern) => pattern.test(key));
}

function withoutCredentials(key: string, value: string): string {
  if (!/url$/.test(key)) return value;
  return value.replace(/^(https?:\/\/)[^/?#]*@/i, "$1").replace(/^(https?:[^?#]*)[?#].*$/is, "$1");
}

/** Formats an entry whose key is `section.name` or `section.subsection.name`, as printed by git. */
export function configLine({ key, value }: Pick<ConfigEntry, "key" | "value">): string {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  if (first < 0 || /[\n\0]/.test(key)) return "";
  const section = key.slice(0, first);
  const subsection = first === last ? "" : ` "${escapeConfigValue(key.slice(first + 1, last))}"`;
  return `[${section}${subsection}]\n\t${key.slice(last + 1)} = "${escapeConfigValue(value).replaceAll("\n", "\\n")}"\n`;
}

function escapeConfigValue(text: string): string {
  return text.replace(/[\\"]/g, "\\$&").replaceAll("\0", "");
}
