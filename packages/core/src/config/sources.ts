import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { parseTree } from "../document/parse.ts";
import type { Place, Problem } from "../document/problem.ts";
import { checkTree, emptyTree, readText } from "../document/read.ts";
import { at, mergeTrees, type Tree, valuePlaceOf } from "../document/tree.ts";
import type { Variables } from "../document/variables.ts";
import { type FleetFile, fleetSchema } from "./schema/fleet.ts";

/** What one agent is made of: each layer's words, and whose they are. */
export interface AgentSource {
  /** Names of the included fleets around it, outermost first. */
  within: string[];
  place: Place;
  file: string;
  fleetDir: string;
  /** From the weakest to the strongest: fleet defaults, agent, overrides. */
  layers: AgentLayer[];
}

export interface AgentLayer {
  /** 0 is the fleet file that was started; an included fleet counts one further in. */
  rank: number;
  by: "fleet" | "agent";
  tree: Tree;
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
  const root = reader.readFleet(file, { within: [], below: [], above: [], chain: [] });
  const { agents, texts, patterns, problems } = reader;
  return { ...root, agents, texts, patterns: [...patterns], problems };
}

interface Surroundings {
  within: string[];
  /** Layers of the fleets around: defaults go below the included fleet's own, overrides above. */
  below: AgentLayer[];
  above: AgentLayer[];
  chain: string[];
}

class SourceReader {
  readonly agents: AgentSource[] = [];
  readonly problems: Problem[] = [];
  readonly texts = new Map<string, string>();
  readonly patterns = new Set<string>();

  constructor(private readonly variables: Variables) {}

  readFleet(file: string, around: Surroundings): { root: FleetFile | undefined; rootTree: Tree } {
    const tree = this.readTree(file) ?? emptyTree(file);
    const checked = checkTree(fleetSchema, tree);
    // A file that could not be parsed at all has said so already.
    if (tree.kind !== "map" || tree.entries.size > 0) this.problems.push(...checked.problems);
    this.readAgents(file, tree, around);
    this.readIncludes(file, tree, around);
    return { root: checked.ok ? checked.value : undefined, rootTree: tree };
  }

  private readAgents(file: string, tree: Tree, around: Surroundings): void {
    const rank = around.chain.length;
    const defaults = at(tree, ["defaults"]);
    const below = [...around.below, ...layer(rank, "fleet", defaults)];
    const byFile = new Map<string, { place: Place; overrides: Tree | undefined }>();

    for (const entry of listItems(at(tree, ["agents"]))) {
      if (at(entry, ["path"])?.kind !== "scalar") {
        const layers = [...below, ...layer(rank, "fleet", entry), ...around.above];
        this.agents.push(this.agent(file, entry.place, file, around.within, layers));
        continue;
      }
      const place = valuePlaceOf(entry, ["path"]);
      const overrides = at(entry, ["overrides"]);
      for (const match of this.matches(file, entry)) {
        const earlier = byFile.get(match)?.overrides;
        byFile.set(match, { place, overrides: mergeTrees(earlier, overrides) });
      }
    }

    for (const [agentFile, { overrides }] of byFile) {
      const own = this.readTree(agentFile);
      if (!own) continue;
      const above = [...layer(rank, "fleet", overrides), ...around.above];
      const layers = [...below, ...layer(rank, "agent", own), ...above];
      this.agents.push(this.agent(agentFile, own.place, file, around.within, layers));
    }
  }

  private agent(
    file: string,
    place: Place,
    fleetFile: string,
    within: string[],
    layers: AgentLayer[],
  ): AgentSource {
    return { within, place, file, fleetDir: dirname(fleetFile), layers };
  }

  private readIncludes(file: string, tree: Tree, around: Surroundings): void {
    const rank = around.chain.length;
    const chain = [...around.chain, realpath(file)];
    for (const entry of listItems(at(tree, ["fleets"]))) {
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
      this.readFleet(target, {
        within: [...around.within, name],
        below: [...around.below, ...layer(rank, "fleet", at(tree, ["defaults"]))],
        above: [...layer(rank, "fleet", at(entry, ["overrides"])), ...around.above],
        chain,
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

  private readTree(file: string): Tree | undefined {
    const text = readText(file);
    this.texts.set(file, text);
    const { tree, problems } = parseTree(file, text, this.variables);
    this.problems.push(...problems);
    if (!tree && problems.length === 0) {
      const place = { file, line: 1, column: 1 };
      this.report(place, "the file is empty", "Describe the fleet or agent in it, or remove it.");
    }
    return tree;
  }

  private report(place: Place, message: string, hint: string): void {
    this.problems.push({ ...place, path: "", message, hint });
  }
}

function layer(rank: number, by: AgentLayer["by"], tree: Tree | undefined): AgentLayer[] {
  return tree ? [{ rank, by, tree }] : [];
}

function listItems(tree: Tree | undefined): Tree[] {
  return tree?.kind === "list" ? tree.items : [];
}

function textAt(tree: Tree, path: string[]): string | undefined {
  const found = at(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function includedFile(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? resolve(path, "herdctl.yaml") : path;
}

function realpath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
