import { fitsPattern } from "./pattern.ts";

/** Whether a list such as `[reviewer, docs-*]` names an agent. `*` stands for any part of a name. */
export function namesAgent(list: readonly string[], name: string): boolean {
  return list.some((one) => fitsPattern(one, name));
}
