import { dirname, join, resolve } from "node:path";
import {
  assertFleetOwnership,
  assertOwnership,
  comparePositions,
  envFileName,
  type Problem,
  ProblemsError,
  type SourcePosition,
  stateDirOf,
} from "@herdctl/protocol";
import { collectAdvice } from "./checks/advice.ts";
import { readClaudeSettings } from "./checks/claude-settings.ts";
import { checkConsistency } from "./checks/consistency.ts";
import {
  checkChatConflicts,
  checkKeepAliveLimit,
  checkStorePassword,
} from "./checks/fleet-checks.ts";
import { type AgentWithTree, checkHostCommands } from "./checks/host-commands.ts";
import { checkMounts, collectProtectedPaths, type ProtectedPaths } from "./checks/mounts.ts";
import { checkSchemaFiles, readOutputSchemas, type SchemaFile } from "./checks/output-schemas.ts";
import { checkProvider } from "./checks/provider.ts";
import { checkServerTokens } from "./checks/server-tokens.ts";
import { readSystemPrompt } from "./checks/system-prompt-files.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { matchesAnyPattern } from "./name-patterns.ts";
import { type AgentSource, readSources } from "./read-sources.ts";
import { type ResolvedAgent, resolveAgent, resolvePath } from "./resolve-agent.ts";
import { agentSchema } from "./schema/agent.ts";
import type { FleetFile } from "./schema/fleet.ts";
import { toFleetName } from "./schema/strings.ts";
import { checkTrust } from "./trust/check-trust.ts";
import { checkDelegation } from "./trust/delegation.ts";
import { mustWithholdLogin, resolveHostTools } from "./trust/host-tools.ts";
import { checkWebhookSecrets } from "./webhook-secrets.ts";
import { suggestionHint } from "./yaml/did-you-mean.ts";
import { checkTree } from "./yaml/read-document.ts";
import { keyPositionOf, mergeTrees, type Tree, treeAt } from "./yaml/tree.ts";

/** A valid configuration. It is immutable, so running jobs keep theirs across a reload. */
export interface Fleet
  extends Readonly<Pick<FleetFile, "server" | "claude_path" | "prices" | "store">> {
  readonly fleet: Readonly<FleetFile["fleet"]> & { readonly name: string };
  readonly file: string;
  readonly dir: string;
  readonly stateDir: string;
  readonly agents: readonly ResolvedAgent[];
}

export interface LoadedFleet {
  fleet: Fleet;
  /** The process environment merged with `.env`; never stored or shown. */
  environment: Environment;
  /** For `config show`: the merged trees, which record where each value was written. */
  trees: { fleet: Tree; agents: ReadonlyMap<string, Tree> };
  /** Problems that do not prevent a start. */
  warnings: readonly Problem[];
  /** All files that were read, and `.env`, which may not exist. */
  files: readonly string[];
  /** The text of each file as it was read, except `.env`. */
  texts: ReadonlyMap<string, string>;
  /** Absolute patterns that agent files are searched with. */
  patterns: readonly string[];
}

/**
 * Reads a fleet file and all files it names. Throws a single error with all problems.
 * `replacements` are texts to read instead of files, by absolute path.
 */
export function loadFleet(
  file: string,
  env: Environment = process.env,
  replacements?: ReadonlyMap<string, string>,
): LoadedFleet {
  const path = resolve(file);
  const dir = dirname(path);
  assertFleetOwnership(path);
  const environment = readEnvironment(dir, env);
  const sources = readSources(path, (name) => environment[name], replacements);
  assertOwnership([...sources.texts.keys()]);
  const problems = [...sources.problems, ...checkDefaults(sources.rootTree)];

  const stateDir = stateDirOf(path);
  const files = [...sources.texts.keys(), join(dir, envFileName)];
  const protectedPaths = collectProtectedPaths(files, stateDir);
  const loaded = sources.agents.map((source) => loadAgent(source, protectedPaths));
  problems.push(...loaded.flatMap(({ problems }) => problems), ...findDuplicateNames(loaded));
  problems.push(
    ...findUnknownTriggers(loaded),
    ...checkHostCommands(selectAgentsWithTrees(loaded)),
  );
  problems.push(...checkDelegation(loaded));
  for (const { agent, tree } of selectAgentsWithTrees(loaded)) {
    problems.push(...checkWebhookSecrets(agent, tree, environment));
  }
  problems.push(...checkSchemaFiles(selectAgentsWithTrees(loaded)));
  if (sources.root) {
    problems.push(
      ...checkKeepAliveLimit(selectAgentsWithTrees(loaded), sources.root.fleet.max_keep_alive),
    );
    problems.push(...checkServerTokens(sources.root, sources.rootTree, environment));
    problems.push(...checkStorePassword(sources.root, sources.rootTree, environment));
  }
  problems.push(...checkChatConflicts(selectAgentsWithTrees(loaded)));
  if (problems.length > 0 || !sources.root) {
    throw new ProblemsError("config_invalid", removeDuplicates(problems).sort(comparePositions));
  }

  const { fleet, server, claude_path, prices, store } = sources.root;
  const agents = loaded.flatMap(({ agent }) => agent ?? []);
  const schemas = loaded.flatMap(({ files }) => files);
  return {
    fleet: deepFreeze({
      fleet: { ...fleet, name: fleet.name ?? toFleetName(dir) },
      server,
      claude_path: claude_path && resolvePath(dir, claude_path),
      prices,
      store,
      file: path,
      dir,
      stateDir,
      agents,
    }),
    environment,
    trees: {
      fleet: sources.rootTree,
      agents: new Map(loaded.map(({ name, tree }) => [name, tree])),
    },
    warnings: removeDuplicates([
      ...sources.warnings,
      ...collectAdvice(sources.rootTree, selectAgentsWithTrees(loaded)),
    ]).sort(comparePositions),
    files: [...files, ...schemas.map(({ file }) => file)],
    texts: new Map([
      ...sources.texts,
      ...schemas.map(({ file, text = "" }) => [file, text] as const),
    ]),
    patterns: sources.patterns,
  };
}

interface LoadedAgent {
  source: AgentSource;
  name: string;
  namePosition: SourcePosition;
  tree: Tree;
  agent?: ResolvedAgent;
  /** Files that the agent uses besides its agent file. */
  files: SchemaFile[];
  problems: Problem[];
}

function loadAgent(source: AgentSource, protectedPaths: ProtectedPaths): LoadedAgent {
  const tree = source.layers.reduce<Tree | undefined>(
    (merged, { tree }) => mergeTrees(merged, tree),
    undefined,
  );
  const merged: Tree = tree
    ? { ...tree, place: source.place }
    : { kind: "map", place: source.place, entries: new Map() };
  const checked = checkTree(agentSchema, merged);
  const own = treeAt(merged, ["name"]);
  const name = [...source.fleetNames, own?.kind === "scalar" ? String(own.value) : "?"].join(".");
  const trustProblems = checkTrust(source, protectedPaths);
  const problems = [
    ...checked.problems,
    ...checkConsistency(merged),
    ...checkProvider(merged),
    ...trustProblems,
  ];
  const found = { source, name, namePosition: own?.place ?? source.place, tree: merged };
  if (!checked.ok) return { ...found, files: [], problems };
  const agent = resolveAgent(checked.value, merged, {
    name,
    file: source.file,
    fleetDir: source.fleetDir,
    hostTools: resolveHostTools(source),
    withholdLogin: mustWithholdLogin(source),
  });
  // A refused file is not read, because an error message could show its content.
  if (trustProblems.length > 0) return { ...found, agent, files: [], problems };
  const schemas = readOutputSchemas(agent, merged);
  const settings = readClaudeSettings(agent, merged);
  const systemPrompt = readSystemPrompt(checked.value.system_prompt, merged);
  return {
    ...found,
    agent: {
      ...agent,
      schedules: schemas.schedules,
      ...settings.fields,
      ...(systemPrompt.prompt && { system_prompt: systemPrompt.prompt }),
    },
    files: [...schemas.files, ...settings.files, ...systemPrompt.files],
    problems: [
      ...problems,
      ...checkMounts(agent, merged, protectedPaths),
      ...schemas.problems,
      ...settings.problems,
      ...systemPrompt.problems,
    ],
  };
}

function selectAgentsWithTrees(
  agents: LoadedAgent[],
): (AgentWithTree & Pick<LoadedAgent, "files">)[] {
  return agents.flatMap(({ agent, tree, files }) => (agent ? [{ agent, tree, files }] : []));
}

/** `defaults` is checked even if no agent could be read. It may omit required fields. */
function checkDefaults(root: Tree): Problem[] {
  const defaults = treeAt(root, ["defaults"]);
  if (defaults?.kind !== "map") return [];
  const named = new Map(defaults.entries);
  const name: Tree = { kind: "scalar", place: defaults.place, value: "defaults", variables: [] };
  named.set("name", { keyPlace: defaults.place, tree: name });
  return checkTree(agentSchema, { ...defaults, entries: named }, { isPartial: true }).problems;
}

function findDuplicateNames(agents: LoadedAgent[]): Problem[] {
  const first = new Map<string, SourcePosition>();
  return agents.flatMap(({ name, namePosition }) => {
    const earlier = first.get(name);
    if (!earlier) {
      first.set(name, namePosition);
      return [];
    }
    const where = `${earlier.file}:${earlier.line}`;
    return [
      {
        ...namePosition,
        path: "name",
        message: `another agent is also called \`${name}\``,
        hint: `Rename one of the two. The other is at ${where}.`,
      },
    ];
  });
}

function findUnknownTriggers(agents: LoadedAgent[]): Problem[] {
  const names = agents.map(({ name }) => name);
  return agents.flatMap(({ agent, tree, name }) =>
    (agent?.may_trigger ?? []).flatMap((target, index) => {
      const others = names.filter((other) => other !== name);
      if (others.some((other) => matchesAnyPattern([target], other))) return [];
      const path = ["may_trigger", index];
      const message =
        target === name ? "an agent cannot trigger itself" : `there is no agent \`${target}\``;
      return [
        {
          ...(treeAt(tree, path)?.place ?? keyPositionOf(tree, path)),
          path: `may_trigger[${index}]`,
          message,
          hint: suggestionHint(target, others),
        },
      ];
    }),
  );
}

/** A problem in `defaults` occurs in every agent, but is reported once. */
function removeDuplicates(problems: Problem[]): Problem[] {
  const seen = new Map(
    problems.map((problem) => [
      `${problem.file}:${problem.line}:${problem.column}:${problem.message}`,
      problem,
    ]),
  );
  return [...seen.values()];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
