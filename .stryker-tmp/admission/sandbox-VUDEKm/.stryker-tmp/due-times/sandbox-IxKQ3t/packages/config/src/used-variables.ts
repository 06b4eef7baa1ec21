import type { LoadedFleet } from "./load-fleet.ts";
import { type Tree, treeAt } from "./yaml/tree.ts";

/** Every variable that a configuration names, as `${NAME}` or in a field such as `token_env`. */
export function listUsedVariables({ trees }: Pick<LoadedFleet, "trees">): string[] {
  const all = [trees.fleet, ...trees.agents.values()].flatMap((tree) =>
    collectVariables(tree, false),
  );
  return [...new Set(all)].sort();
}

function collectVariables(tree: Tree, isName: boolean): string[] {
  if (tree.kind === "list") return tree.items.flatMap((item) => collectVariables(item, isName));
  if (tree.kind === "map") {
    return Array.from(tree.entries).flatMap(([key, entry]) =>
      collectVariables(entry.tree, key.endsWith("_env")),
    );
  }
  return isName && typeof tree.value === "string"
    ? [...tree.variables, tree.value]
    : tree.variables;
}

/** Whether the fleet file sets the port. */
export function isPortConfigured(fleet: Tree): boolean {
  return treeAt(fleet, ["server", "port"]) !== undefined;
}
