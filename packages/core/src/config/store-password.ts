import type { Problem } from "../document/problem.ts";
import { at, type Tree, valuePlaceOf } from "../document/tree.ts";
import type { Environment } from "./environment.ts";
import type { FleetFile } from "./schema/fleet.ts";
import { decoded, passwordOf } from "./secret-values.ts";

/** A fleet file is shared and kept in git: the password of its store comes from the environment. */
export function checkStorePassword(
  { store }: Pick<FleetFile, "store">,
  tree: Tree,
  environment: Environment,
): Problem[] {
  const password = store === undefined ? undefined : passwordOf(store);
  if (password === undefined || isFromOutside(password, at(tree, ["store"]), environment)) {
    return [];
  }
  return [
    {
      ...valuePlaceOf(tree, ["store"]),
      path: "store",
      message: "the password of the database is written in this file",
      hint: "Put the whole address into a variable, in `.env` or the environment, and write `store: ${HERDCTL_STORE}`.",
    },
  ];
}

function isFromOutside(
  password: string,
  written: Tree | undefined,
  environment: Environment,
): boolean {
  if (written?.kind !== "scalar") return false;
  return written.variables.some((name) => {
    const value = environment[name] ?? "";
    const forms = [value, decoded(value), passwordOf(value)];
    return forms.some((form) => form?.includes(password));
  });
}
