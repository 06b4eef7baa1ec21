import type { Tree } from "../document/tree.ts";
import type { LoadedFleet } from "./load.ts";

/** Every variable that a configuration names, by `${NAME}` or in a field such as `token_env`. */
export function usedVariables({ trees }: Pick<LoadedFleet, "trees">): string[] {
  const all = [trees.fleet, ...trees.agents.values()].flatMap((tree) => variablesIn(tree, false));
  return [...new Set(all)].sort();
}

function variablesIn(tree: Tree, isName: boolean): string[] {
  if (tree.kind === "list") return tree.items.flatMap((item) => variablesIn(item, isName));
  if (tree.kind === "map") {
    return Array.from(tree.entries).flatMap(([key, entry]) =>
      variablesIn(entry.tree, key.endsWith("_env")),
    );
  }
  return isName && typeof tree.value === "string"
    ? [...tree.variables, tree.value]
    : tree.variables;
}
