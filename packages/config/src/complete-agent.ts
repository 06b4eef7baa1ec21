import { join, resolve } from "node:path";
import { type Problem, ProblemsError } from "@herdctl/protocol";
import { z } from "zod";
import { completeSettings } from "./checks/claude-settings.ts";
import { type ResolvedAgent, resolvePath, type WorkingDirectory } from "./resolve-agent.ts";
import { resolveClaudePaths } from "./resolve-claude-paths.ts";
import { type AgentConfig, agentSchema, PermissionsSchema } from "./schema/agent.ts";
import { type docker, isNamedVolume } from "./schema/docker.ts";
import { withTexts } from "./system-prompt-texts.ts";
import { withToolPolicies } from "./tool-policies.ts";
import { suggestionHint } from "./yaml/did-you-mean.ts";
import { readText } from "./yaml/read-document.ts";

type AgentInput = z.input<typeof agentSchema>;

/** Each field in the form of a YAML file, or as `loadFleet` returns it. */
type EitherForm<In, Out> = {
  [Key in keyof In & keyof Out]?: In[Key] | Out[Key];
};

/**
 * An agent as a program writes it: the fields of an agent file, or an agent of `loadFleet`, changed or
 * not. Only the name is required. Relative paths refer to the working directory of the process.
 */
export interface ResolvedAgentConfig
  extends Omit<EitherForm<AgentInput, AgentConfig>, "name" | "docker" | "working_directory">,
    Partial<Pick<ResolvedAgent, "file" | "fleet_dir" | "host_tools" | "withhold_login">> {
  name: string;
  /** Short for `permission_mode`, `allowed_tools` and `denied_tools`. */
  permissions?: z.input<typeof PermissionsSchema>;
  docker?: DockerInput;
  working_directory?: AgentInput["working_directory"] | WorkingDirectory;
}

export type DockerInput = EitherForm<z.input<typeof docker>, AgentConfig["docker"]>;

/** Fills in every default. Throws one error with all problems. */
export function completeAgent(config: ResolvedAgentConfig): ResolvedAgent {
  const { file, fleet_dir, host_tools, withhold_login, permissions, ...own } = config;
  const problems: Problem[] = [];
  const name = typeof own.name === "string" ? own.name : "?";
  const position = { file: file ?? `agent ${name}`, line: 1, column: 1 };
  const report: Report = (path, message, hint = "Correct this field of the agent.") =>
    problems.push({ ...position, path: path.join("."), message, hint });
  const fields: typeof own = { ...own, ...fieldsOfPermissions(permissions, report) };
  const { working_directory: folder, ...others } = fields;
  const isResolved = typeof folder === "object" && "path" in folder;
  const agent = completeFields(agentSchema, isResolved ? others : fields, [], report);
  if (problems.length > 0) throw new ProblemsError("config_invalid", problems);
  const directory = fleet_dir ?? process.cwd();
  // Every field was checked against its schema.
  const checked = agent as AgentConfig;
  const settings = completeSettings(checked, directory);
  for (const { key, message } of settings.problems) report([key], message);
  if (problems.length > 0) throw new ProblemsError("config_invalid", problems);
  const { system_prompt: prompt, ...fieldsOfAgent } = checked;
  return {
    ...fieldsOfAgent,
    ...settings.fields,
    ...withToolPolicies(checked),
    ...(prompt && {
      system_prompt: withTexts(prompt, (path) => readText(resolvePath(directory, path))),
    }),
    file: file ?? join(directory, `${checked.name}.yaml`),
    fleet_dir: directory,
    host_tools,
    ...(withhold_login && { withhold_login }),
    working_directory: isResolved
      ? { ...folder, path: resolvePath(directory, folder.path) }
      : completeWorkingDirectory(checked, directory),
    ...resolveClaudePaths(checked, (path) => resolvePath(directory, path)),
    docker: { ...checked.docker, volumes: checked.docker.volumes.map(withAbsoluteSource) },
  };

  function withAbsoluteSource(volume: AgentConfig["docker"]["volumes"][number]) {
    return isNamedVolume(volume)
      ? volume
      : { ...volume, source: resolvePath(directory, volume.source) };
  }
}

/** The `docker` block of an agent with every default. */
export function completeDocker(config: DockerInput = {}): ResolvedAgent["docker"] {
  return completeAgent({ name: "agent", docker: config }).docker;
}

type Report = (path: readonly string[], message: string, hint?: string) => void;

function fieldsOfPermissions(permissions: unknown, report: Report): Record<string, unknown> {
  if (permissions === undefined) return {};
  const { data, error } = PermissionsSchema.safeParse(permissions);
  for (const { path, message } of error?.issues ?? [])
    report(["permissions", ...path.map(String)], message);
  if (!data) return {};
  const { mode, allowed_tools, denied_tools } = data;
  return { permission_mode: mode, allowed_tools, denied_tools };
}

/** Completes a block field by field, because each may have either form. */
function completeFields(
  block: z.ZodObject,
  config: object,
  path: readonly string[],
  report: Report,
): Record<string, unknown> {
  const given = new Map<string, unknown>(Object.entries(config));
  for (const key of given.keys()) {
    if (!(key in block.shape))
      report(
        [...path, key],
        `unknown key \`${key}\``,
        suggestionHint(key, Object.keys(block.shape)),
      );
  }
  return Object.fromEntries(
    Object.entries(block.shape).map(([key, schema]) => [
      key,
      completeField(schema, given.get(key), [...path, key], report),
    ]),
  );
}

function completeField(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly string[],
  report: Report,
): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isPlainObject(value))
    return completeFields(inner, value, path, report);
  const decoded = z.safeDecode(schema, value as never);
  if (decoded.success) return decoded.data;
  // Values that are already decoded can be encoded.
  if (value !== undefined && isEncodable(schema, value)) return value;
  for (const issue of decoded.error.issues)
    report([...path, ...issue.path.map(String)], issue.message);
  return undefined;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;
}

function isEncodable(schema: z.core.$ZodType, value: unknown): boolean {
  try {
    return z.safeEncode(schema, value as never).success;
  } catch {
    // The encoder of a codec expects its own type.
    return false;
  }
}

function completeWorkingDirectory(
  { name, working_directory: configured }: AgentConfig,
  directory: string,
): WorkingDirectory {
  if (configured === undefined) return { path: directory };
  if ("path" in configured) return { ...configured, path: resolvePath(directory, configured.path) };
  const { repo, branch, clone_depth: depth, root } = configured;
  return { path: join(resolve(directory, root), name), clone: { repo, branch, depth } };
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
