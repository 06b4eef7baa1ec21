import { at, type Tree } from "../document/tree.ts";

/** Whether the fleet file says which port, or leaves it to us. */
export function isPortNamed(fleet: Tree): boolean {
  return at(fleet, ["server", "port"]) !== undefined;
}
