import { relative } from "node:path";
import { containsPath, resolveLinks } from "../checks/mounts.ts";

/**
 * The permissions that an entry of a fleet file gives the named file. A file behind several limited entries,
 * such as one of an included fleet, may use only what all of them grant.
 */
export interface Grant {
  /** The fleet file that contains the entry. */
  fleetFile: string;
  list: "agents" | "fleets";
  /** The path as the entry writes it. */
  path: string;
  variables: readonly string[];
  /** Absolute paths of the fleet's folder and of its `workspace_roots`. */
  folders: readonly string[];
}

export function isVariableGranted(grants: readonly Grant[], name: string): boolean {
  // defence: granted-variables
  return grants.every(({ variables }) => variables.includes(name));
}

/** The grants that do not cover a path, with its links resolved. */
export function findGrantsNotCovering(
  grants: readonly Grant[],
  path: string,
  extraFolders: readonly string[] = [],
): Grant[] {
  // defence: granted-folder-links
  const real = resolveLinks(path);
  return grants.filter(
    ({ folders }) =>
      ![...folders, ...extraFolders].some((folder) =>
        /* defence: granted-folders */ containsPath(resolveLinks(folder), real),
      ),
  );
}

/** The line that allows something, with the fleet file to add it to. */
export function formatGrantHint({ fleetFile, list, path }: Grant, content: object): string {
  const file = relative(process.cwd(), fleetFile) || fleetFile;
  const name = file.startsWith("..") ? fleetFile : file;
  return `${name}: \`${list}: [${toFlowYaml({ path, ...content })}]\``;
}

/** A value in one line of YAML. */
function toFlowYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toFlowYaml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(
      ([key, inner]) => `${toFlowYaml(key)}: ${toFlowYaml(inner)}`,
    );
    return entries.length > 0 ? `{ ${entries.join(", ")} }` : "{}";
  }
  if (typeof value !== "string") return String(value);
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Whether YAML reads a text without quotes as the same text. */
function isPlain(text: string): boolean {
  return /^[A-Za-z_./][\w./@-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|\.)$/i.test(text);
}
