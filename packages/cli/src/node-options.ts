import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fleet, NodeOptions } from "@herdctl/core";
import { nodeRoles, UserError } from "@herdctl/core/light";
import { type Call, textOption } from "./command.ts";

/** What this node is, as it was typed. An error where the fleet has no store that nodes could share. */
export function nodeOptionsOf(
  { options }: Pick<Call, "options">,
  { store }: Pick<Fleet, "store">,
): NodeOptions {
  const given: NodeOptions = {
    role: roleOf(textOption(options, "role")),
    labels: labelsOf(textOption(options, "labels")),
    name: nameOf(textOption(options, "nodeName")),
    capacity: capacityOf(textOption(options, "capacity")),
  };
  const [flag] = nodeFlags(given);
  if (flag === undefined || store !== undefined) return given;
  throw new UserError("usage", `\`${flag}\` is for a fleet whose machines share a store`, {
    hint: "Write `store: ${HERDCTL_STORE}` into the fleet file, with the address of a PostgreSQL in that variable.",
  });
}

/** As they are typed, for a process that is started with the same. */
export function nodeFlags({ role, labels, name, capacity }: NodeOptions): string[] {
  return [
    ...(role === undefined ? [] : ["--role", role]),
    ...(labels === undefined ? [] : ["--labels", labels.join(",")]),
    ...(name === undefined ? [] : ["--node-name", name]),
    ...(capacity === undefined ? [] : ["--capacity", String(capacity)]),
  ];
}

/** Kept beside the state, so that `restart` starts the same node. */
export function rememberNodeOptions(stateDir: string, options: NodeOptions): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(fileOf(stateDir), `${JSON.stringify(options)}\n`, { mode: 0o600 });
}

/** What `start` was told last, in the form of options that were typed. */
export function rememberedOptions(stateDir: string): Call["options"] {
  const file = fileOf(stateDir);
  if (!existsSync(file)) return {};
  const { role, labels, name, capacity }: NodeOptions = JSON.parse(readFileSync(file, "utf8"));
  return {
    role,
    labels: labels?.join(","),
    nodeName: name,
    capacity: capacity === undefined ? undefined : String(capacity),
  };
}

function fileOf(stateDir: string): string {
  return join(stateDir, "node-options.json");
}

function roleOf(text: string | undefined): NodeOptions["role"] {
  if (text === undefined) return undefined;
  const role = nodeRoles.find((one) => one === text);
  if (role !== undefined) return role;
  throw wrong(`\`${text}\` is not a role`, `One of ${nodeRoles.join(", ")}.`);
}

const wordPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

function labelsOf(text: string | undefined): string[] | undefined {
  const labels = text?.split(",").map((label) => label.trim());
  const odd = labels?.find((label) => !wordPattern.test(label));
  if (odd === undefined) return labels && [...new Set(labels)];
  throw wrong(`\`${odd}\` is not a label`, "Write them as `--labels gpu,eu`.");
}

function nameOf(text: string | undefined): string | undefined {
  if (text === undefined || wordPattern.test(text)) return text;
  throw wrong(`\`${text}\` is not a name for a node`, "Use letters, digits, `-`, `_` and `.`.");
}

function capacityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw wrong(`\`${text}\` is not a number of jobs`, "Write a whole number, such as `4`.");
}

function wrong(message: string, hint: string): UserError {
  return new UserError("usage", message, { hint });
}
