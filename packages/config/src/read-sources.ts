import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Problem, SourcePosition } from "@herdctl/protocol";
import { globSync, isDynamicPattern } from "tinyglobby";
import type { ImportFinding } from "./import/findings.ts";
import { type DocumentRole, translateDocument } from "./import/translate-document.ts";
import type { WorkspaceDefaults } from "./import/workspace-rules.ts";
import { resolvePath } from "./resolve-agent.ts";
import { type FleetFile, fleetSchema } from "./schema/fleet.ts";
import { toFleetName } from "./schema/strings.ts";
import { type AgentLayer, chooseLayerTrees, type WrittenLayer } from "./trust/config-layers.ts";
import { type Grant, isVariableGranted } from "./trust/grant.ts";
import { type DocumentTranslator, type ParsedDocument, parseTree } from "./yaml/parse.ts";
import { checkTree, emptyTree, readText } from "./yaml/read-document.ts";
import { mergeTrees, type Tree, treeAt, valuePositionOf } from "./yaml/tree.ts";
import type { VariableLookup } from "./yaml/variables.ts";

/** The sources of one agent: the content and author of each layer. */
export interface AgentSource {
  /** Names of the fleets that include it, outermost first. */
  fleetNames: string[];
  place: SourcePosition;
  file: string;
  fleetDir: string;
  /** From the weakest to the strongest: fleet defaults, agent, overrides. */
  layers: AgentLayer[];
  isInDocker: boolean;
  /** Grants of the fleet files that include its fleet; empty if all of them have full trust. */
  fleetGrants: readonly Grant[];
}

export interface Sources {
  root: FleetFile | undefined;
  rootTree: Tree;
  agents: AgentSource[];
  /** Text of each file as it was read. */
  texts: Map<string, string>;
  /** Absolute patterns that agent files are searched with. */
  patterns: string[];
  problems: Problem[];
  /** Settings that are written in the format of the other project called herdctl. */
  warnings: Problem[];
}

/** The fleet file, all files it names and the fleets it includes, read but not merged. */
export function readSources(
  file: string,
  variables: VariableLookup,
  replacements: ReadonlyMap<string, string> = new Map(),
): Sources {
  const reader = new SourceReader(variables, replacements);
  const root = reader.readFleet(file, {
    fleetNames: [],
    lowerLayers: [],
    upperLayers: [],
    includeChain: [],
    grants: [],
  });
  const { agents, texts, patterns, problems, warnings } = reader;
  return { ...root, agents, texts, patterns: [...patterns], problems, warnings };
}

interface IncludeContext {
  fleetNames: string[];
  /**
   * Layers of the including fleets. Their defaults rank below the layers of the included fleet,
   * their overrides above.
   */
  lowerLayers: WrittenLayer[];
  upperLayers: WrittenLayer[];
  includeChain: string[];
  /** Empty if every including fleet file has full trust. */
  grants: readonly Grant[];
}

/** A file read twice: with all variables, and with only those that its author may use. */
interface ReadDocuments {
  unrestricted: ParsedDocument;
  /** The same document as `unrestricted` if its author has no limits. */
  limited: ParsedDocument;
  /** Of a fleet file in the other format: the folder for clones of its agents. */
  workspace: WorkspaceDefaults;
}

/** The merged entries that name one agent file. */
interface AgentEntry {
  overrides: TreePair;
  isFullTrust: boolean;
  variables: string[];
  folders: string[];
}

/** A part of a file, in both readings. */
interface TreePair {
  unrestricted: Tree | undefined;
  limited: Tree | undefined;
}

class SourceReader {
  readonly agents: AgentSource[] = [];
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly texts = new Map<string, string>();
  readonly patterns = new Set<string>();

  constructor(
    private readonly variables: VariableLookup,
    /** Texts to read instead of files, such as of an edit that is not written yet. */
    private readonly replacements: ReadonlyMap<string, string>,
  ) {}

  readFleet(
    file: string,
    context: IncludeContext,
  ): { root: FleetFile | undefined; rootTree: Tree } {
    const read = this.readFile(file, context.grants, { kind: "fleet" });
    this.problems.push(...read.unrestricted.problems);
    const tree = read.unrestricted.tree ?? emptyTree(file);
    const checked = checkTree(fleetSchema, tree);
    // A file that could not be parsed has already been reported.
    if (tree.kind !== "map" || tree.entries.size > 0) this.problems.push(...checked.problems);
    const pair = { unrestricted: tree, limited: read.limited.tree };
    this.readAgents(file, pair, context, read.workspace);
    this.readIncludes(file, pair, context);
    return { root: checked.ok ? checked.value : undefined, rootTree: tree };
  }

  private readAgents(
    file: string,
    fleet: TreePair,
    context: IncludeContext,
    workspace: WorkspaceDefaults,
  ): void {
    const { grants } = context;
    const rank = context.includeChain.length;
    const fleetLayer = (pair: TreePair | undefined) => toLayers(rank, "fleet", grants, pair);
    const below = [...context.lowerLayers, ...fleetLayer(pairAt(fleet, ["defaults"]))];
    const byFile = new Map<string, AgentEntry>();

    for (const [index, entry] of listItems(treeAt(fleet.unrestricted, ["agents"])).entries()) {
      const own = pairAt(fleet, ["agents", index]);
      if (treeAt(entry, ["path"])?.kind !== "scalar") {
        const layers = [...below, ...fleetLayer(own), ...context.upperLayers];
        this.addAgent({ file, place: entry.place, fleetFile: file, context, layers });
        continue;
      }
      for (const match of this.findAgentFiles(file, entry)) {
        byFile.set(match, mergeAgentEntry(byFile.get(match), own, file));
      }
    }

    for (const [agentFile, entry] of byFile) {
      const own = /* defence: grants-accumulate */ entry.isFullTrust
        ? grants
        : [...grants, createAgentGrant(file, agentFile, entry)];
      const read = this.readFile(agentFile, own, { kind: "agent", workspace });
      const pair = { unrestricted: read.unrestricted.tree, limited: read.limited.tree };
      const above = [...fleetLayer(entry.overrides), ...context.upperLayers];
      const layers = [...below, ...toLayers(rank, "agent", own, pair), ...above];
      const place = pair.unrestricted?.place;
      const isLimited =
        place && this.addAgent({ file: agentFile, place, fleetFile: file, context, layers });
      this.problems.push(...(isLimited ? read.limited : read.unrestricted).problems);
    }
  }

  /**
   * Returns true for an agent in Docker, whose files are read with only the variables they may use.
   */
  private addAgent({
    file,
    place,
    fleetFile,
    context,
    layers: written,
  }: {
    file: string;
    place: SourcePosition;
    fleetFile: string;
    context: IncludeContext;
    layers: WrittenLayer[];
  }): boolean {
    const { layers, isInDocker } = chooseLayerTrees(written);
    const { fleetNames, grants: fleetGrants } = context;
    const fleetDir = dirname(fleetFile);
    this.agents.push({
      fleetNames,
      place,
      file,
      fleetDir,
      layers,
      isInDocker,
      fleetGrants,
    });
    return isInDocker;
  }

  private readIncludes(file: string, fleet: TreePair, context: IncludeContext): void {
    const rank = context.includeChain.length;
    const chain = [...context.includeChain, realPathIfExists(file)];
    for (const [index, entry] of listItems(treeAt(fleet.unrestricted, ["fleets"])).entries()) {
      const path = textAt(entry, ["path"]);
      if (path === undefined) continue;
      const place = valuePositionOf(entry, ["path"]);
      const target = resolveIncludedFile(resolve(dirname(file), path));
      if (!existsSync(target)) {
        this.reportProblem(
          place,
          `${path} does not exist`,
          "Name a herdctl.yaml, or a folder that holds one.",
        );
        continue;
      }
      if (chain.includes(realPathIfExists(target))) {
        this.reportProblem(
          place,
          `${path} includes itself`,
          "Remove one `fleets` entry of the cycle.",
        );
        continue;
      }
      const name = textAt(entry, ["name"]) ?? this.readFleetName(target);
      const overrides = pairAt(fleet, ["fleets", index, "overrides"]);
      const fleetLayer = (pair: TreePair) => toLayers(rank, "fleet", context.grants, pair);
      this.readFleet(target, {
        fleetNames: [...context.fleetNames, name],
        lowerLayers: [...context.lowerLayers, ...fleetLayer(pairAt(fleet, ["defaults"]))],
        upperLayers: [...fleetLayer(overrides), ...context.upperLayers],
        includeChain: chain,
        grants: isFullTrust(entry)
          ? context.grants
          : [...context.grants, createFleetGrant(file, entry, path, target)],
      });
    }
  }

  private readFleetName(file: string): string {
    const { tree } = parseTree(file, this.readText(file), this.variables);
    return (tree && textAt(tree, ["fleet", "name"])) ?? toFleetName(dirname(file));
  }

  private findAgentFiles(file: string, entry: Tree): string[] {
    const pattern = textAt(entry, ["path"]) ?? "";
    const folder = dirname(file);
    const place = valuePositionOf(entry, ["path"]);
    if (!isDynamicPattern(pattern)) {
      const target = resolve(folder, pattern);
      if (statSync(target, { throwIfNoEntry: false })?.isFile()) return [target];
      this.reportProblem(
        place,
        `${pattern} does not exist or is not a file`,
        "Check the path; it is relative to this file.",
      );
      return [];
    }
    this.patterns.add(resolve(folder, pattern));
    const found = globSync([pattern], { cwd: folder, absolute: true, onlyFiles: true }).sort();
    if (found.length === 0) {
      this.reportProblem(
        place,
        `${pattern} matches no file`,
        "Check the pattern; it is relative to this file.",
      );
    }
    return found.map((match) => resolve(match));
  }

  private readFile(file: string, grants: readonly Grant[], role: DocumentRole): ReadDocuments {
    const text = this.readText(file);
    this.texts.set(file, text);
    let workspace: WorkspaceDefaults = {};
    const translate: DocumentTranslator = (document, lines) => {
      const translated = translateDocument(file, document, lines, role, false);
      workspace = translated.workspace;
      this.reportFindings(translated.findings);
    };
    const unrestricted = parseTree(file, text, this.variables, undefined, translate);
    if (!unrestricted.tree && unrestricted.problems.length === 0) {
      const place = { file, line: 1, column: 1 };
      this.reportProblem(
        place,
        "the file is empty",
        "Describe a fleet or an agent in it, or remove the file.",
      );
    }
    if (grants.length === 0) return { unrestricted, limited: unrestricted, workspace };
    const mayUse = (name: string) => isVariableGranted(grants, name);
    const limited = parseTree(file, text, this.variables, mayUse, translate);
    return { unrestricted, limited, workspace };
  }

  /** A file is read twice, but each finding is reported once. */
  private reportFindings(findings: readonly ImportFinding[]): void {
    for (const { kind, message, ...place } of findings) {
      const reported = kind === "decision" ? this.problems : this.warnings;
      const hint =
        kind === "decision"
          ? "Run `herdctl import --dry-run` to see what it means here."
          : "Change it, or run `herdctl import` to change all of them.";
      if (reported.some((one) => one.message === message && samePlace(one, place))) continue;
      reported.push({ ...place, message, hint });
    }
  }

  private readText(file: string): string {
    return this.replacements.get(file) ?? readText(file);
  }

  private reportProblem(place: SourcePosition, message: string, hint: string): void {
    this.problems.push({ ...place, path: "", message, hint });
  }
}

function samePlace(a: SourcePosition, b: SourcePosition): boolean {
  return a.file === b.file && a.line === b.line && a.column === b.column;
}

function toLayers(
  rank: number,
  author: WrittenLayer["author"],
  grants: readonly Grant[],
  pair: TreePair | undefined,
): WrittenLayer[] {
  return pair?.unrestricted
    ? [{ rank, author, grants, tree: pair.unrestricted, limited: pair.limited }]
    : [];
}

function pairAt(pair: TreePair, path: (string | number)[]): TreePair {
  return { unrestricted: treeAt(pair.unrestricted, path), limited: treeAt(pair.limited, path) };
}

/** Merges an entry over earlier entries that name the same file. */
function mergeAgentEntry(
  earlier: AgentEntry | undefined,
  own: TreePair,
  fleetFile: string,
): AgentEntry {
  const entry = own.unrestricted ?? emptyTree(fleetFile);
  const overrides = pairAt(own, ["overrides"]);
  const setsTrust = treeAt(entry, ["trust"]) !== undefined;
  return {
    overrides: {
      unrestricted: mergeTrees(earlier?.overrides.unrestricted, overrides.unrestricted),
      limited: mergeTrees(earlier?.overrides.limited, overrides.limited),
    },
    isFullTrust: setsTrust
      ? isFullTrust(entry)
      : (earlier?.isFullTrust ?? /* defence: untrusted-by-default */ false),
    variables: [...(earlier?.variables ?? []), ...textsAt(entry, ["variables"])],
    folders: [...(earlier?.folders ?? []), ...listWorkspaceRoots(entry, fleetFile)],
  };
}

function createAgentGrant(fleetFile: string, agentFile: string, entry: AgentEntry): Grant {
  const folder = dirname(fleetFile);
  const path = relative(folder, agentFile);
  const folders = [folder, ...entry.folders];
  return { fleetFile, list: "agents", path, variables: entry.variables, folders };
}

function createFleetGrant(fleetFile: string, entry: Tree, path: string, target: string): Grant {
  const folders = [dirname(fleetFile), dirname(target), ...listWorkspaceRoots(entry, fleetFile)];
  return { fleetFile, list: "fleets", path, variables: textsAt(entry, ["variables"]), folders };
}

function listWorkspaceRoots(entry: Tree, fleetFile: string): string[] {
  return textsAt(entry, ["workspace_roots"]).map((root) => resolvePath(dirname(fleetFile), root));
}

/** Every value except `full` means limited trust. */
function isFullTrust(entry: Tree): boolean {
  return textAt(entry, ["trust"]) === "full";
}

function listItems(tree: Tree | undefined): Tree[] {
  return tree?.kind === "list" ? tree.items : [];
}

function textAt(tree: Tree, path: string[]): string | undefined {
  const found = treeAt(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function textsAt(tree: Tree, path: string[]): string[] {
  return listItems(treeAt(tree, path)).flatMap((item) => textAt(item, []) ?? []);
}

function resolveIncludedFile(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? resolve(path, "herdctl.yaml") : path;
}

function realPathIfExists(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
