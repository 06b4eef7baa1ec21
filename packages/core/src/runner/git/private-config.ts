import { type ConfigEntry, listConfig } from "./config-list.ts";
import type { HostRepository } from "./host-repository.ts";

/** Values that change how files and history are read and written, and neither run nor reveal anything. */
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

/** The configuration of a private git directory: nothing in it is a command, a path or a credential. */
export async function privateConfig(repository: HostRepository): Promise<string> {
  const { gitDir, config, objectFormat } = repository;
  // Who the user is elsewhere is not the agent's business; what the repository itself says is.
  const own = await listConfig({ gitDir }, ["--local"]);
  const copied = [
    ...config.filter(({ key }) => isHarmless(key)),
    ...own.filter(({ key }) => identityKeys.has(key)),
  ];
  const isSha256 = objectFormat === "sha256";
  const entries: Pick<ConfigEntry, "key" | "value">[] = [
    { key: "core.repositoryformatversion", value: isSha256 ? "1" : "0" },
    ...(isSha256 ? [{ key: "extensions.objectformat", value: "sha256" }] : []),
    { key: "core.bare", value: "false" },
    { key: "core.logallrefupdates", value: "true" },
    // A submodule's own repository is not in the container.
    { key: "submodule.recurse", value: "false" },
    { key: "diff.ignoresubmodules", value: "all" },
    ...copied.map(({ key, value }) => ({ key, value: withoutCredentials(key, value) })),
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

/** `section.name` or `section.sub.section.name`, as git prints it. */
export function configLine({ key, value }: Pick<ConfigEntry, "key" | "value">): string {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  if (first < 0 || /[\n\0]/.test(key)) return "";
  const section = key.slice(0, first);
  const subsection = first === last ? "" : ` "${escaped(key.slice(first + 1, last))}"`;
  return `[${section}${subsection}]\n\t${key.slice(last + 1)} = "${escaped(value).replaceAll("\n", "\\n")}"\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, "\\$&").replaceAll("\0", "");
}
