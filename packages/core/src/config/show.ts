import { z } from "zod";
import { formatPath, type Place } from "../document/problem.ts";
import { at, type Tree, toValue } from "../document/tree.ts";
import type { LoadedFleet } from "./load.ts";
import { maskLiteral } from "./mask-literal.ts";
import { agentSchema } from "./schema/agent.ts";
import { fleetSchema } from "./schema/fleet.ts";

export interface ShownValue {
  path: string;
  value: unknown;
  /** Absent when the value is herdctl's own default. */
  from?: Place;
}

export interface ShownConfig {
  fleet: ShownValue[];
  agents: { name: string; values: ShownValue[] }[];
}

/** The resolved configuration, each value with where it came from, secrets masked. */
export function showConfig({ fleet, trees }: LoadedFleet): ShownConfig {
  const shownElsewhere = ["defaults", "agents", "fleets"];
  return {
    fleet: shownValues(fleetSchema, trees.fleet).filter(
      ({ path }) => !shownElsewhere.some((key) => path.startsWith(key)),
    ),
    agents: fleet.agents.map(({ name }) => {
      const tree = trees.agents.get(name);
      return { name, values: tree ? shownValues(agentSchema, tree) : [] };
    }),
  };
}

type Path = (string | number)[];

function shownValues(schema: z.ZodType, tree: Tree): ShownValue[] {
  // Encoding turns milliseconds and bytes back into the `5m` and `2g` that people write.
  const complete = z.encode(schema, schema.parse(toValue(tree)));
  return leaves(complete).map(({ path, value }, index, all) => {
    const written = whereWritten(tree, path);
    const before = all[index - 1];
    const isArgument = typeof path.at(-1) === "number" && path.at(-1) !== 0;
    const shown = shownValue(path, value, written, isArgument ? before?.value : undefined);
    return { path: formatPath(path), value: shown, ...(written && { from: written.place }) };
  });
}

/** A short form such as `runtime: cli` stands for a whole block: its place is that of each part. */
function whereWritten(tree: Tree, path: Path): Tree | undefined {
  const found = at(tree, path);
  if (found || path.length === 0) return found;
  const around = at(tree, path.slice(0, -1));
  return around?.kind === "scalar" ? around : undefined;
}

function leaves(value: unknown, path: Path = []): { path: Path; value: unknown }[] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) return [{ path, value }];
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => leaves(item, [...path, index]))
    : Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
  return inner.length > 0 || path.length === 0 ? inner : [{ path, value }];
}

/** A value that came from a variable is masked whole, a literal one as far as it may be secret. */
function shownValue(path: Path, value: unknown, written: Tree | undefined, previous: unknown) {
  if (typeof value !== "string") return value;
  if (written?.kind === "scalar" && written.variables.length > 0) return maskOf(written.variables);
  return maskLiteral(path, value, previous);
}

function maskOf(variables: readonly string[]): string {
  return `•••••• (${variables.map((name) => `$${name}`).join(", ")})`;
}
