import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { assertOwnership, envFileName } from "@herdctl/protocol";
import { readText } from "./yaml/read-document.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `.env` next to the fleet file sets variables that the real environment does not set. */
export function readEnvironment(fleetDir: string, processEnv: Environment): Environment {
  const file = join(fleetDir, envFileName);
  if (!existsSync(file)) return processEnv;
  assertOwnership([file]);
  return { ...parseEnv(readText(file)), ...processEnv };
}
