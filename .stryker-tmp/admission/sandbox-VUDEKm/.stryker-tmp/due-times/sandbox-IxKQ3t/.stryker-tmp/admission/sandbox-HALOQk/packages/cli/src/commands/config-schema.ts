import { jsonSchema } from "@herdctl/config";
import type { CommandContext } from "../command.ts";

export async function run({ options, terminal }: CommandContext): Promise<number> {
  terminal.printJson(jsonSchema(options.agent === true ? "agent" : "fleet"));
  return 0;
}
