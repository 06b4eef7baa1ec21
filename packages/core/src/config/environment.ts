import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { readText } from "../document/read.ts";
import { assertOwned } from "../state/ownership.ts";
import { envFileName } from "./find.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `.env` beside the fleet file fills what the real environment leaves unset. */
export function readEnvironment(fleetDir: string, real: Environment): Environment {
  const file = join(fleetDir, envFileName);
  if (!existsSync(file)) return real;
  assertOwned([file]);
  return { ...parseEnv(readText(file)), ...real };
}
