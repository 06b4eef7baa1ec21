import { type ConfigValueView, type ConfigView, formatPath } from "@herdctl/protocol";
import { z } from "zod";
import type { LoadedFleet } from "./load-fleet.ts";
import { agentSchema } from "./schema/agent.ts";
import { fleetSchema } from "./schema/fleet.ts";
import { type Tree, toValue, treeAt } from "./yaml/tree.ts";

/** The resolved configuration: each value with its position, secrets masked. */
export function viewConfig({ fleet, trees }: LoadedFleet): ConfigView {
  const hiddenKeys = ["defaults", "agents", "fleets"];
  return {
    fleet: withFleetName(
      viewValues(fleetSchema, trees.fleet).filter(
        ({ path }) => !hiddenKeys.some((key) => path.startsWith(key)),
      ),
      fleet.fleet.name,
    ),
    agents: fleet.agents.map(({ name }) => {
      const tree = trees.agents.get(name);
      return { name, values: tree ? viewValues(agentSchema, tree) : [] };
    }),
  };
}

type Path = (string | number)[];

/** A fleet file without a name has the name of its folder, which the tree does not contain. */
function withFleetName(values: ConfigValueView[], name: string): ConfigValueView[] {
  const path = "fleet.name";
  return values.some((value) => value.path === path) ? values : [{ path, value: name }, ...values];
}

function viewValues(schema: z.ZodType, tree: Tree): ConfigValueView[] {
  // Encoding turns milliseconds and bytes back into `5m` and `2g`.
  const complete = z.encode(schema, schema.parse(toValue(tree)));
  return listLeaves(complete).map(({ path, value }, index, all) => {
    const written = findWrittenTree(tree, path);
    const previousLeaf = all[index - 1];
    const isArgument = typeof path.at(-1) === "number" && path.at(-1) !== 0;
    const shown = maskValue(path, value, written, isArgument ? previousLeaf?.value : undefined);
    return { path: formatPath(path), value: shown, ...(written && { from: written.place }) };
  });
}

/** A short form such as `runtime: cli` sets a whole block, so every part has its position. */
function findWrittenTree(tree: Tree, path: Path): Tree | undefined {
  const found = treeAt(tree, path);
  if (found || path.length === 0) return found;
  const parent = treeAt(tree, path.slice(0, -1));
  return parent?.kind === "scalar" ? parent : undefined;
}

function listLeaves(value: unknown, path: Path = []): { path: Path; value: unknown }[] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) return [{ path, value }];
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => listLeaves(item, [...path, index]))
    : Object.entries(value).flatMap(([key, item]) => listLeaves(item, [...path, key]));
  return inner.length > 0 || path.length === 0 ? inner : [{ path, value }];
}

/** Values from variables are masked entirely, literal values only where they may be secret. */
function maskValue(path: Path, value: unknown, written: Tree | undefined, previous: unknown) {
  if (typeof value !== "string") return value;
  // defence: masked-variables
  if (written?.kind === "scalar" && written.variables.length > 0)
    return variableMask(written.variables);
  // defence: literal-secrets-masked
  return maskLiteral(path, value, previous);
}

function variableMask(variables: readonly string[]): string {
  return `•••••• (${variables.map((name) => `$${name}`).join(", ")})`;
}

const maskText = "••••••";

const secretNamePattern = /token|key|secret|passw|credential|auth|cookie/i;

const secretOptionPattern = /^--?[\w-]*(?:token|key|secret|passw\w*|credentials?|auth)[\w-]*$/i;

/** Masks what is usually secret at this path and leaves the rest readable. */
function maskLiteral(path: Path, text: string, previous: unknown): string {
  if (path.includes("headers")) return maskText;
  if (path.includes("env") && secretNamePattern.test(String(path.at(-1)))) return maskText;
  if (typeof previous === "string" && secretOptionPattern.test(previous)) return maskText;
  const [option = "", ...rest] = text.split("=");
  if (rest.length > 0 && secretOptionPattern.test(option)) return `${option}=${maskText}`;
  const isHook = path.includes("hooks") && path.at(-1) === "url";
  return text.replace(urlPattern, (found) => maskAddress(found, isHook));
}

const urlPattern = /[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi;

const webhookHostPattern = /^(?:discord(?:app)?\.com|hooks\.slack\.com|.*\.webhook\.office\.com)$/;

/** The path of a webhook URL is its secret. */
function maskAddress(found: string, isHook: boolean): string {
  const withoutUser = found.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, `$1${maskText}@`);
  const [, origin = "", host = "", rest = ""] =
    /^([a-z][a-z\d+.-]*:\/\/([^/?#]*))(.*)$/i.exec(withoutUser) ?? [];
  if (rest.length > 1 && (isHook || webhookHostPattern.test(host))) return `${origin}/${maskText}`;
  return origin + rest.replace(/([?&#][^=&#]+=)[^&#]+/g, `$1${maskText}`);
}
