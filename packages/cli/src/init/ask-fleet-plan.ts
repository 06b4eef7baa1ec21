import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";
import { type FleetPlan, fleetNameHint, fleetNamePattern } from "./fleet-plan.ts";
import type { Runtime } from "./reviewer-fleet.ts";
import type { SignIn } from "./surroundings.ts";

export interface Example {
  name: string;
  summary: string;
}

/** Undefined if the user cancels. */
export async function askFleetPlan(
  suggested: FleetPlan,
  examples: readonly Example[],
  signIn: SignIn,
): Promise<FleetPlan | undefined> {
  intro("A new fleet");
  const name = await text({
    message: "Name of the fleet",
    placeholder: suggested.name,
    defaultValue: suggested.name,
    validate: (typed) => (!typed || fleetNamePattern.test(typed) ? undefined : fleetNameHint),
  });
  if (isCancel(name)) return printCancelled();
  const example = await select({
    message: "Example to start from",
    initialValue: suggested.example,
    options: examples.map((one) => ({ value: one.name, label: exampleLabel(one, examples) })),
  });
  if (isCancel(example)) return printCancelled();
  const runtime = await askRuntime(suggested.runtime, signIn);
  if (runtime === undefined) return printCancelled();
  outro("Created files:");
  return { name, example, runtime };
}

/** Only a user with both a login and a key has a choice. */
async function askRuntime(
  suggested: Runtime,
  { subscription, keyVariable }: SignIn,
): Promise<Runtime | undefined> {
  if (!subscription || keyVariable === undefined) return suggested;
  const chosen = await select<Runtime>({
    message: "Sign in with",
    initialValue: suggested,
    options: [
      { value: "cli", label: "your Claude login (subscription)" },
      { value: "sdk", label: `the API key in ${keyVariable}` },
    ],
  });
  return isCancel(chosen) ? undefined : chosen;
}

function printCancelled(): undefined {
  cancel("Cancelled. No files were created.");
}

function exampleLabel({ name, summary }: Example, examples: readonly Example[]): string {
  const width = Math.max(...examples.map((one) => one.name.length));
  return `${name.padEnd(width)}  ${summary}`;
}
