import { dirname } from "node:path";
import { type Problem, UserError } from "@herdctl/protocol";
import { parse } from "yaml";
import type { JsonSchema } from "../json-schema.ts";
import { compileSchema } from "../output-schema.ts";
import { type ResolvedAgent, resolvePath } from "../resolve-agent.ts";
import { readText } from "../yaml/read-document.ts";
import { type Tree, treeAt, valuePositionOf } from "../yaml/tree.ts";
import { type AgentWithTree, listWritableFolders } from "./host-commands.ts";
import { containsPath, resolveLinks } from "./mounts.ts";

export interface OutputSchemaResult {
  schedules: ResolvedAgent["schedules"];
  problems: Problem[];
  files: SchemaFile[];
}

/** A file with a schema or settings, and the configuration path that names it. */
export interface SchemaFile {
  file: string;
  /** Undefined if the file cannot be read. */
  text?: string;
  path: string[];
}

/** Replaces the names of schema files by their content, and checks that every schema is valid. */
export function readOutputSchemas(agent: ResolvedAgent, tree: Tree): OutputSchemaResult {
  const result: OutputSchemaResult = { schedules: {}, problems: [], files: [] };
  for (const [name, schedule] of Object.entries(agent.schedules)) {
    const configuredSchema = schedule.output_schema;
    if (configuredSchema === undefined) {
      result.schedules[name] = schedule;
      continue;
    }
    const path = ["schedules", name, "output_schema"];
    try {
      const schema =
        typeof configuredSchema === "string"
          ? readSchemaFile(configuredSchema, tree, path, result.files)
          : configuredSchema;
      compileSchema(schema);
      result.schedules[name] = { ...schedule, output_schema: schema };
    } catch (error) {
      result.schedules[name] = schedule;
      result.problems.push(schemaProblem(error, tree, path));
    }
  }
  return result;
}

/** A container that can write a schema file could break it, and the fleet would not start again. */
export function checkSchemaFiles(agents: (AgentWithTree & { files: SchemaFile[] })[]): Problem[] {
  const writable = agents.flatMap(({ agent }) => listWritableFolders(agent));
  return agents.flatMap(({ tree, files }) =>
    files.flatMap(({ file, path }) => {
      const real = resolveLinks(file);
      const found = writable.find(({ folder }) => containsPath(folder, real));
      if (!found) return [];
      return [
        {
          ...valuePositionOf(tree, path),
          path: path.join("."),
          message: `the container of \`${found.agent}\` could write this file`,
          hint: "Move the file to a folder that no container mounts, or write it inline.",
        },
      ];
    }),
  );
}

function readSchemaFile(
  configuredSchema: string,
  tree: Tree,
  path: string[],
  files: SchemaFile[],
): JsonSchema {
  const configFile = treeAt(tree, path)?.place.file ?? "";
  const file = resolvePath(dirname(configFile), configuredSchema);
  const schemaFile: SchemaFile = { file, path };
  files.push(schemaFile);
  schemaFile.text = readText(file);
  const schema: unknown = parse(schemaFile.text);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new Error("the file does not contain an object");
  return { ...schema };
}

function schemaProblem(error: unknown, tree: Tree, path: string[]): Problem {
  const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
  const isMissing = error instanceof UserError;
  return {
    ...valuePositionOf(tree, path),
    path: path.join("."),
    message: isMissing ? `${reason}` : `this is not a valid JSON Schema: ${reason}`,
    hint: isMissing
      ? "Write the path of a file with a JSON Schema, relative to this file."
      : "Write a JSON Schema of the report, such as `{ type: object, required: [title] }`.",
  };
}
