import { dirname } from "node:path";
import { parse } from "yaml";
import type { Problem } from "../document/problem.ts";
import { readText } from "../document/read.ts";
import { at, type Tree, valuePlaceOf } from "../document/tree.ts";
import { UserError } from "../errors/user-error.ts";
import { followLinks, holds } from "./boundary.ts";
import { type PlacedAgent, writableFolders } from "./host-commands.ts";
import type { JsonSchema } from "./json-schema.ts";
import { compileSchema } from "./output-schema.ts";
import { type ResolvedAgent, resolvePath } from "./resolve.ts";

export interface ReadSchemas {
  schedules: ResolvedAgent["schedules"];
  problems: Problem[];
  files: SchemaFile[];
}

/** A file with a schema, and where it is named. */
export interface SchemaFile {
  file: string;
  /** As it was read; undefined when it cannot be. */
  text?: string;
  path: string[];
}

/** Puts the schemas that are in files in their places, and looks whether each is one at all. */
export function readOutputSchemas(agent: ResolvedAgent, tree: Tree): ReadSchemas {
  const read: ReadSchemas = { schedules: {}, problems: [], files: [] };
  for (const [name, schedule] of Object.entries(agent.schedules)) {
    const given = schedule.output_schema;
    if (given === undefined) {
      read.schedules[name] = schedule;
      continue;
    }
    const path = ["schedules", name, "output_schema"];
    try {
      const schema = typeof given === "string" ? fromFile(given, tree, path, read.files) : given;
      compileSchema(schema);
      read.schedules[name] = { ...schedule, output_schema: schema };
    } catch (error) {
      read.schedules[name] = schedule;
      read.problems.push(problemOf(error, tree, path));
    }
  }
  return read;
}

/**
 * Whoever sits in a container could write nonsense into such a file, and the fleet would not start
 * again.
 */
export function checkSchemaFiles(agents: (PlacedAgent & { files: SchemaFile[] })[]): Problem[] {
  const writable = agents.flatMap(({ agent }) => writableFolders(agent));
  return agents.flatMap(({ tree, files }) =>
    files.flatMap(({ file, path }) => {
      const real = followLinks(file);
      const found = writable.find(({ folder }) => holds(folder, real));
      if (!found) return [];
      return [
        {
          ...valuePlaceOf(tree, path),
          path: path.join("."),
          message: `the container of \`${found.agent}\` could write this file`,
          hint: "Put the schema into a folder that no container is given, or write it here.",
        },
      ];
    }),
  );
}

function fromFile(given: string, tree: Tree, path: string[], files: SchemaFile[]): JsonSchema {
  const written = at(tree, path)?.place.file ?? "";
  const file = resolvePath(dirname(written), given);
  const read: SchemaFile = { file, path };
  files.push(read);
  read.text = readText(file);
  const schema: unknown = parse(read.text);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new Error("the file holds no object");
  return { ...schema };
}

function problemOf(error: unknown, tree: Tree, path: string[]): Problem {
  const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
  const isMissing = error instanceof UserError;
  return {
    ...valuePlaceOf(tree, path),
    path: path.join("."),
    message: isMissing ? `${reason}` : `this is no JSON Schema: ${reason}`,
    hint: isMissing
      ? "Write the path of a file with a JSON Schema, relative to this file."
      : "Write what a report has to hold, such as `{ type: object, required: [title] }`.",
  };
}
