import { jsonSchema } from "@herdctl/core";
import type { Call } from "../command.ts";

export async function run({ options, terminal }: Call): Promise<number> {
  terminal.printJson(jsonSchema(options.agent === true ? "agent" : "fleet"));
  return 0;
}
