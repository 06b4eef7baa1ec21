import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { type ParsedDocument, parseTree } from "../document/parse.ts";
import type { Place, Problem } from "../document/problem.ts";
import { checkTree, emptyTree, readText } from "../document/read.ts";
import { at, mergeTrees, type Tree, valuePlaceOf } from "../document/tree.ts";
import type { Variables } from "../document/variables.ts";
import { resolvePath } from "./resolve.ts";
import { type FleetFile, fleetSchema } from "./schema/fleet.ts";
import { type Grant, mayUseVariable } from "./trust/grant.ts";
import { type AgentLayer, chooseTrees, type WrittenLayer } from "./trust/layers.ts";

/** What one agent is made of: each layer's words, and whose they are. */
export interface AgentSource {
  /** Names of the included fleets around it, outermost first. */
  within: string[];
  place: Place;
  file: string;
  fleetDir: string;
  /** From the weakest to the strongest: fleet defaults, agent, overrides. */
  layers: AgentLayer[];
  runsInDocker: boolean;
  /** What the fleet files around its fleet grant; empty when all of them are trusted. */
  fleetGrants: readonly Grant[];
}

export interface Sources {
  root: FleetFile | undefined;
  rootTree: Tree;
  agents: AgentSource[];
  /** The text of each file, as it was read. */
  texts: Map<string, string>;
  /** Where agent files are looked for, as absolute patterns. */
  patterns: string[];
  problems: Problem[];
}

/** The fleet file, all files it names, and the fleets it includes, read but not yet merged. */
export function readSources(file: string, variables: Variables): Sources {
  const reader = new SourceReader(variables);
  const root = reader.readFleet(file, { within: [], below: [], above: [], chain: [], grants: [] });
  const { agents, texts, patterns, problems } = reader;
  return { ...root, agents, texts, patterns: [...patterns], problems };
}

interface Surroundings {
  within: string[];
  /** Layers of the fleets around: defaults go below the included fleet's own, overrides above. */
  below: WrittenLayer[];
  above: WrittenLayer[];
  chain: string[];
  /** Empty when every fleet file around is trusted. */
  grants: readonly Grant[];
}

/** A file, read with all variables and with those that its author may use. */
interface ReadFile {
  open: ParsedDocument;
  /** The same document when nothing limits its author. */
  limited: ParsedDocument;
}

/** What the entries that name one agent file say about it. */
interface AgentEntry {
  overrides: Pair;
  isFull: boolean;
  variables: string[];
  folders: string[];
}

/** One part of a file, as it was read in both ways. */
interface Pair {
  open: Tree | undefined;
  limited: Tree | undefined;
}

class SourceReader {
  readonly agents: AgentSource[] = [];
  readonly problems: Problem[] = [];
  readonly texts = new Map<string, string>();
  readonly patterns = new Set<string>();

  constructor(private readonly variables: Variables) {}

  readFleet(file: string, around: Surroundings): { root: FleetFile | undefined; rootTree: Tree } {
    const read = this.readFile(file, around.grants);
    this.problems.push(...read.open.problems);
    const tree = read.open.tree ?? emptyTree(file);
    const checked = checkTree(fleetSchema, tree);
    // A file that could not be parsed at all has said so already.
    if (tree.kind !== "map" || tree.entries.size > 0) this.problems.push(...checked.problems);
    const pair = { open: tree, limited: read.limited.tree };
    this.readAgents(file, pair, around);
    this.readIncludes(file, pair, around);
    return { root: checked.ok ? checked.value : undefined, rootTree: tree };
  }

  private readAgents(file: string, fleet: Pair, around: Surroundings): void {
    const { grants } = around;
    const rank = around.chain.length;
    const fleetLayer = (pair: Pair | undefined) => layer(rank, "fleet", grants, pair);
    const below = [...around.below, ...fleetLayer(partOf(fleet, ["defaults"]))];
    const byFile = new Map<string, AgentEntry>();

    for (const [index, entry] of listItems(at(fleet.open, ["agents"])).entries()) {
      const own = partOf(fleet, ["agents", index]);
      if (at(entry, ["path"])?.kind !== "scalar") {
        const layers = [...below, ...fleetLayer(own), ...around.above];
        this.addAgent({ file, place: entry.place, fleetFile: file, around, layers });
        continue;
      }
      for (const match of this.matches(file, entry)) {
        byFile.set(match, withEntry(byFile.get(match), own, file));
      }
    }

    for (const [agentFile, entry] of byFile) {
      const own = entry.isFull ? grants : [...grants, grantFor(file, agentFile, entry)];
      const read = this.readFile(agentFile, own);
      const pair = { open: read.open.tree, limited: read.limited.tree };
      const above = [...fleetLayer(entry.overrides), ...around.above];
      const layers = [...below, ...layer(rank, "agent", own, pair), ...above];
      const place = pair.open?.place;
      const isLimited =
        place && this.addAgent({ file: agentFile, place, fleetFile: file, around, layers });
      this.problems.push(...(isLimited ? read.limited : read.open).problems);
    }
  }

  /** Returns whether its files were read with only what they may use. */
  private addAgent({
    file,
    place,
    fleetFile,
    around,
    layers: written,
  }: {
    file: string;
    place: Place;
    fleetFile: string;
    around: Surroundings;
    layers: WrittenLayer[];
  }): boolean {
    const { layers, runsInDocker } = chooseTrees(written);
    const { within, grants: fleetGrants } = around;
    const fleetDir = dirname(fleetFile);
    this.agents.push({ within, place, file, fleetDir, layers, runsInDocker, fleetGrants });
    return runsInDocker;
  }

  private readIncludes(file: string, fleet: Pair, around: Surroundings): void {
    const rank = around.chain.length;
    const chain = [...around.chain, realpath(file)];
    for (const [index, entry] of listItems(at(fleet.open, ["fleets"])).entries()) {
      const path = textAt(entry, ["path"]);
      if (path === undefined) continue;
      const place = valuePlaceOf(entry, ["path"]);
      const target = includedFile(resolve(dirname(file), path));
      if (!existsSync(target)) {
        this.report(
          place,
          `${path} does not exist`,
          "Name a herdctl.yaml, or a folder that holds one.",
        );
        continue;
      }
      if (chain.includes(realpath(target))) {
        this.report(place, `${path} includes itself`, "Remove one of the fleets from the circle.");
        continue;
      }
      const name = textAt(entry, ["name"]) ?? this.fleetName(target) ?? "fleet";
      const overrides = partOf(fleet, ["fleets", index, "overrides"]);
      const fleetLayer = (pair: Pair) => layer(rank, "fleet", around.grants, pair);
      this.readFleet(target, {
        within: [...around.within, name],
        below: [...around.below, ...fleetLayer(partOf(fleet, ["defaults"]))],
        above: [...fleetLayer(overrides), ...around.above],
        chain,
        grants: isFull(entry)
          ? around.grants
          : [...around.grants, grantForFleet(file, entry, path, target)],
      });
    }
  }

  private fleetName(file: string): string | undefined {
    const { tree } = parseTree(file, readText(file), this.variables);
    return tree && textAt(tree, ["fleet", "name"]);
  }

  private matches(file: string, entry: Tree): string[] {
    const pattern = textAt(entry, ["path"]) ?? "";
    const folder = dirname(file);
    const place = valuePlaceOf(entry, ["path"]);
    if (!isDynamicPattern(pattern)) {
      const target = resolve(folder, pattern);
      if (statSync(target, { throwIfNoEntry: false })?.isFile()) return [target];
      this.report(
        place,
        `${pattern} does not exist or is not a file`,
        "Check the path; it is relative to this file.",
      );
      return [];
    }
    this.patterns.add(resolve(folder, pattern));
    const found = globSync([pattern], { cwd: folder, absolute: true, onlyFiles: true }).sort();
    if (found.length === 0) {
      this.report(
        place,
        `${pattern} matches no file`,
        "Check the pattern; it is relative to this file.",
      );
    }
    return found.map((match) => resolve(match));
  }

  private readFile(file: string, grants: readonly Grant[]): ReadFile {
    const text = readText(file);
    this.texts.set(file, text);
    const open = parseTree(file, text, this.variables);
    if (!open.tree && open.problems.length === 0) {
      const place = { file, line: 1, column: 1 };
      this.report(place, "the file is empty", "Describe the fleet or agent in it, or remove it.");
    }
    if (grants.length === 0) return { open, limited: open };
    const mayUse = (name: string) => mayUseVariable(grants, name);
    return { open, limited: parseTree(file, text, this.variables, mayUse) };
  }

  private report(place: Place, message: string, hint: string): void {
    this.problems.push({ ...place, path: "", message, hint });
  }
}

function layer(
  rank: number,
  by: WrittenLayer["by"],
  grants: readonly Grant[],
  pair: Pair | undefined,
): WrittenLayer[] {
  return pair?.open ? [{ rank, by, grants, tree: pair.open, limited: pair.limited }] : [];
}

function partOf(pair: Pair, path: (string | number)[]): Pair {
  return { open: at(pair.open, path), limited: at(pair.limited, path) };
}

/** What an entry says over what earlier entries say about the same file. */
function withEntry(earlier: AgentEntry | undefined, own: Pair, fleetFile: string): AgentEntry {
  const entry = own.open ?? emptyTree(fleetFile);
  const overrides = partOf(own, ["overrides"]);
  const saysTrust = at(entry, ["trust"]) !== undefined;
  return {
    overrides: {
      open: mergeTrees(earlier?.overrides.open, overrides.open),
      limited: mergeTrees(earlier?.overrides.limited, overrides.limited),
    },
    isFull: saysTrust ? isFull(entry) : (earlier?.isFull ?? false),
    variables: [...(earlier?.variables ?? []), ...textsAt(entry, ["variables"])],
    folders: [...(earlier?.folders ?? []), ...rootsOf(entry, fleetFile)],
  };
}

function grantFor(fleetFile: string, agentFile: string, entry: AgentEntry): Grant {
  const folder = dirname(fleetFile);
  const path = relative(folder, agentFile);
  const folders = [folder, ...entry.folders];
  return { fleetFile, list: "agents", path, variables: entry.variables, folders };
}

function grantForFleet(fleetFile: string, entry: Tree, path: string, target: string): Grant {
  const folders = [dirname(fleetFile), dirname(target), ...rootsOf(entry, fleetFile)];
  return { fleetFile, list: "fleets", path, variables: textsAt(entry, ["variables"]), folders };
}

function rootsOf(entry: Tree, fleetFile: string): string[] {
  return textsAt(entry, ["workspace_roots"]).map((one) => resolvePath(dirname(fleetFile), one));
}

/** Anything but the one word limits. */
function isFull(entry: Tree): boolean {
  return textAt(entry, ["trust"]) === "full";
}

function listItems(tree: Tree | undefined): Tree[] {
  return tree?.kind === "list" ? tree.items : [];
}

function textAt(tree: Tree, path: string[]): string | undefined {
  const found = at(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function textsAt(tree: Tree, path: string[]): string[] {
  return listItems(at(tree, path)).flatMap((item) => textAt(item, []) ?? []);
}

function includedFile(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? resolve(path, "herdctl.yaml") : path;
}

function realpath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
