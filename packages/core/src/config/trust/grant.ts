import { relative } from "node:path";
import { followLinks, holds } from "../boundary.ts";

/**
 * What one entry of a fleet file lets the file behind it use. A file that came in through several
 * limited entries, such as one of an included fleet, may use only what all of them grant.
 */
export interface Grant {
  /** The fleet file with the entry. */
  fleetFile: string;
  list: "agents" | "fleets";
  /** As the entry names the file. */
  path: string;
  variables: readonly string[];
  /** Absolute: the fleet's own folder, and its `workspace_roots`. */
  folders: readonly string[];
}

export function mayUseVariable(grants: readonly Grant[], name: string): boolean {
  return grants.every(({ variables }) => variables.includes(name));
}

/** The grants that do not cover a path, all links of it followed. */
export function grantsWithout(
  grants: readonly Grant[],
  path: string,
  further: readonly string[] = [],
): Grant[] {
  const real = followLinks(path);
  return grants.filter(
    ({ folders }) => ![...folders, ...further].some((one) => holds(followLinks(one), real)),
  );
}

/** The line that allows something, and the fleet file that it belongs into. */
export function allowingLine({ fleetFile, list, path }: Grant, content: object): string {
  const file = relative(process.cwd(), fleetFile) || fleetFile;
  const name = file.startsWith("..") ? fleetFile : file;
  return `${name}: \`${list}: [${flow({ path, ...content })}]\``;
}

/** A value in one line of YAML. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `${flow(key)}: ${flow(inner)}`);
    return entries.length > 0 ? `{ ${entries.join(", ")} }` : "{}";
  }
  if (typeof value !== "string") return String(value);
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Whether a text needs no quotes, and is read as a text without them. */
function isPlain(text: string): boolean {
  return /^[A-Za-z_./][\w./@-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|\.)$/i.test(text);
}
