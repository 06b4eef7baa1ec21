import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fleet } from "@herdctl/config";
import type { NodeOptions } from "@herdctl/core/internal";
import { nodeRoles, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "./command.ts";

/** The typed node options. Throws if the fleet has no shared store. */
export function parseNodeOptions(
  { options }: Pick<CommandContext, "options">,
  { store }: Pick<Fleet, "store">,
): NodeOptions {
  const given: NodeOptions = {
    role: parseRole(textOption(options, "role")),
    labels: parseLabels(textOption(options, "labels")),
    name: parseNodeName(textOption(options, "nodeName")),
    capacity: parseCapacity(textOption(options, "capacity")),
  };
  const [flag] = formatNodeFlags(given);
  if (flag === undefined || store !== undefined) return given;
  throw new UserError("usage", `\`${flag}\` requires a shared store`, {
    hint: "Add `store: ${HERDCTL_STORE}` to the fleet file, and set that variable to the address of a PostgreSQL database.",
  });
}

/** The options as command-line flags, to start another process with them. */
export function formatNodeFlags({ role, labels, name, capacity }: NodeOptions): string[] {
  return [
    ...(role === undefined ? [] : ["--role", role]),
    ...(labels === undefined ? [] : ["--labels", labels.join(",")]),
    ...(name === undefined ? [] : ["--node-name", name]),
    ...(capacity === undefined ? [] : ["--capacity", String(capacity)]),
  ];
}

/** Saves the options in the state folder, so that `restart` starts the node with them. */
export function saveNodeOptions(stateDir: string, options: NodeOptions): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(nodeOptionsFile(stateDir), `${JSON.stringify(options)}\n`, { mode: 0o600 });
}

/** The options of the last `start`, in the form of typed options. */
export function loadSavedNodeOptions(stateDir: string): CommandContext["options"] {
  const file = nodeOptionsFile(stateDir);
  if (!existsSync(file)) return {};
  const { role, labels, name, capacity }: NodeOptions = JSON.parse(readFileSync(file, "utf8"));
  return {
    role,
    labels: labels?.join(","),
    nodeName: name,
    capacity: capacity === undefined ? undefined : String(capacity),
  };
}

function nodeOptionsFile(stateDir: string): string {
  return join(stateDir, "node-options.json");
}

function parseRole(text: string | undefined): NodeOptions["role"] {
  if (text === undefined) return undefined;
  const role = nodeRoles.find((one) => one === text);
  if (role !== undefined) return role;
  throw usageError(`\`${text}\` is not a role`, `Use one of: ${nodeRoles.join(", ")}.`);
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

function parseLabels(text: string | undefined): string[] | undefined {
  const labels = text?.split(",").map((label) => label.trim());
  const invalidLabel = labels?.find((label) => !namePattern.test(label));
  if (invalidLabel === undefined) return labels && [...new Set(labels)];
  throw usageError(
    `\`${invalidLabel}\` is not a valid label`,
    "Separate labels with commas, such as `--labels gpu,eu`.",
  );
}

function parseNodeName(text: string | undefined): string | undefined {
  if (text === undefined || namePattern.test(text)) return text;
  throw usageError(
    `\`${text}\` is not a valid node name`,
    "Use letters, digits, `-`, `_` and `.`.",
  );
}

function parseCapacity(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError(
    `\`${text}\` is not a valid capacity`,
    "Use a whole number of jobs, such as `4`.",
  );
}

function usageError(message: string, hint: string): UserError {
  return new UserError("usage", message, { hint });
}
