import { dirname, join, resolve } from "node:path";
import { suggest } from "../document/did-you-mean.ts";
import { byPlace, type Place, type Problem, ProblemsError } from "../document/problem.ts";
import { checkTree } from "../document/read.ts";
import { at, mergeTrees, placeOf, type Tree } from "../document/tree.ts";
import { assertOwned } from "../state/ownership.ts";
import { checkBoundary, type Guarded, guard } from "./boundary.ts";
import { checkConsistency } from "./consistency.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { assertFleetOwned, envFileName, stateDirOf } from "./find.ts";
import { checkHostCommands, type PlacedAgent } from "./host-commands.ts";
import { namesAgent } from "./named-agents.ts";
import { checkSchemaFiles, readOutputSchemas, type SchemaFile } from "./output-schemas.ts";
import { type ResolvedAgent, resolveAgent, resolvePath } from "./resolve.ts";
import { agentSchema } from "./schema/agent.ts";
import type { FleetFile } from "./schema/fleet.ts";
import { checkServerTokens } from "./server-tokens.ts";
import { checkSharedChats } from "./shared-chats.ts";
import { type AgentSource, readSources } from "./sources.ts";
import { checkStorePassword } from "./store-password.ts";
import { checkTrust } from "./trust/check-trust.ts";
import { checkDelegation } from "./trust/delegation.ts";
import { hostToolsOf } from "./trust/host-tools.ts";
import { checkWebhookSecrets } from "./webhook-secrets.ts";

/** One valid configuration: immutable, so that running jobs keep theirs across a reload. */
export interface Fleet
  extends Readonly<Pick<FleetFile, "fleet" | "server" | "claude_path" | "prices" | "store">> {
  readonly file: string;
  readonly dir: string;
  readonly stateDir: string;
  readonly agents: readonly ResolvedAgent[];
}

export interface LoadedFleet {
  fleet: Fleet;
  /** The real environment and `.env` together; never stored, never shown. */
  environment: Environment;
  /** For `config show`: the merged trees, which know where each value came from. */
  trees: { fleet: Tree; agents: ReadonlyMap<string, Tree> };
  /** All that was read, and the `.env` that may be. */
  files: readonly string[];
  /** What stood in them when they were read, but for `.env`. */
  texts: ReadonlyMap<string, string>;
  /** Where agent files are looked for, as absolute patterns. */
  patterns: readonly string[];
}

/** Reads a fleet file and all it names. Everything that is wrong is thrown at once. */
export function loadFleet(file: string, env: Environment = process.env): LoadedFleet {
  const path = resolve(file);
  const dir = dirname(path);
  assertFleetOwned(path);
  const environment = readEnvironment(dir, env);
  const sources = readSources(path, (name) => environment[name]);
  assertOwned([...sources.texts.keys()]);
  const problems = [...sources.problems, ...checkDefaults(sources.rootTree)];

  const stateDir = stateDirOf(path);
  const files = [...sources.texts.keys(), join(dir, envFileName)];
  const guarded = guard(files, stateDir);
  const loaded = sources.agents.map((source) => loadAgent(source, guarded));
  problems.push(...loaded.flatMap((one) => one.problems), ...duplicateNames(loaded));
  problems.push(...unknownTriggers(loaded), ...checkHostCommands(placed(loaded)));
  problems.push(...checkDelegation(loaded));
  for (const { agent, tree } of placed(loaded)) {
    problems.push(...checkWebhookSecrets(agent, tree, environment));
  }
  problems.push(...checkSchemaFiles(placed(loaded)));
  if (sources.root) {
    problems.push(...checkServerTokens(sources.root, sources.rootTree, environment));
    problems.push(...checkStorePassword(sources.root, sources.rootTree, environment));
  }
  problems.push(...checkSharedChats(placed(loaded)));
  if (problems.length > 0 || !sources.root) {
    throw new ProblemsError("config_invalid", withoutRepeats(problems).sort(byPlace));
  }

  const { fleet, server, claude_path, prices, store } = sources.root;
  const agents = loaded.flatMap((one) => one.agent ?? []);
  const schemas = loaded.flatMap((one) => one.files);
  return {
    fleet: deepFreeze({
      fleet,
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
    trees: { fleet: sources.rootTree, agents: new Map(loaded.map((one) => [one.name, one.tree])) },
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
  named: Place;
  tree: Tree;
  agent?: ResolvedAgent;
  /** What it was made of beside the agent's own file. */
  files: SchemaFile[];
  problems: Problem[];
}

function loadAgent(source: AgentSource, guarded: Guarded): LoadedAgent {
  const tree = source.layers.reduce<Tree | undefined>(
    (merged, { tree }) => mergeTrees(merged, tree),
    undefined,
  );
  const merged: Tree = tree
    ? { ...tree, place: source.place }
    : { kind: "map", place: source.place, entries: new Map() };
  const checked = checkTree(agentSchema, merged);
  const own = at(merged, ["name"]);
  const name = [...source.within, own?.kind === "scalar" ? String(own.value) : "?"].join(".");
  const untrusted = checkTrust(source, guarded);
  const problems = [...checked.problems, ...checkConsistency(merged), ...untrusted];
  const found = { source, name, named: own?.place ?? source.place, tree: merged };
  if (!checked.ok) return { ...found, files: [], problems };
  const agent = resolveAgent(checked.value, merged, {
    name,
    file: source.file,
    fleetDir: source.fleetDir,
    hostTools: hostToolsOf(source),
  });
  // A refused file is not read: what stands in it could show in an error message.
  if (untrusted.length > 0) return { ...found, agent, files: [], problems };
  const { schedules, files, problems: ofSchemas } = readOutputSchemas(agent, merged);
  return {
    ...found,
    agent: { ...agent, schedules },
    files,
    problems: [...problems, ...checkBoundary(agent, merged, guarded), ...ofSchemas],
  };
}

function placed(agents: LoadedAgent[]): (PlacedAgent & Pick<LoadedAgent, "files">)[] {
  return agents.flatMap(({ agent, tree, files }) => (agent ? [{ agent, tree, files }] : []));
}

/** `defaults` is checked even when no agent could be read; what it leaves out is not missing. */
function checkDefaults(root: Tree): Problem[] {
  const defaults = at(root, ["defaults"]);
  if (defaults?.kind !== "map") return [];
  const named = new Map(defaults.entries);
  const name: Tree = { kind: "scalar", place: defaults.place, value: "defaults", variables: [] };
  named.set("name", { keyPlace: defaults.place, tree: name });
  const { problems } = checkTree(agentSchema, { ...defaults, entries: named });
  return problems.filter((problem) => !problem.message.endsWith("is missing"));
}

function duplicateNames(agents: LoadedAgent[]): Problem[] {
  const first = new Map<string, Place>();
  return agents.flatMap(({ name, named }) => {
    const earlier = first.get(name);
    if (!earlier) {
      first.set(name, named);
      return [];
    }
    const where = `${earlier.file}:${earlier.line}`;
    return [
      {
        ...named,
        path: "name",
        message: `there is another agent called \`${name}\``,
        hint: `Rename one of the two; the other stands at ${where}.`,
      },
    ];
  });
}

function unknownTriggers(agents: LoadedAgent[]): Problem[] {
  const names = agents.map((one) => one.name);
  return agents.flatMap(({ agent, tree, name }) =>
    (agent?.may_trigger ?? []).flatMap((target, index) => {
      const others = names.filter((one) => one !== name);
      if (others.some((other) => namesAgent([target], other))) return [];
      const path = ["may_trigger", index];
      const message =
        target === name ? "an agent cannot trigger itself" : `there is no agent \`${target}\``;
      return [
        {
          ...(at(tree, path)?.place ?? placeOf(tree, path)),
          path: `may_trigger[${index}]`,
          message,
          hint: suggest(target, others),
        },
      ];
    }),
  );
}

/** A wrong value in `defaults` is found again in every agent: once is enough. */
function withoutRepeats(problems: Problem[]): Problem[] {
  const seen = new Map(
    problems.map((one) => [`${one.file}:${one.line}:${one.column}:${one.message}`, one]),
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
