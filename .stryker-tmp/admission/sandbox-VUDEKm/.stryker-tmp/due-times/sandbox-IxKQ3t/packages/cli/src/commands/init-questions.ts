import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";

export interface FleetPlan {
  name: string;
  example: string;
}

export interface Example {
  name: string;
  summary: string;
}

export const fleetNamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const fleetNameHint = "Use letters, digits, - and _, at most 64 characters.";

/** Undefined if the user cancels. */
export async function promptForFleetPlan(
  suggested: FleetPlan,
  examples: Example[],
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
  outro("Created files:");
  return { name, example };
}

function printCancelled(): undefined {
  cancel("Cancelled. No files were created.");
}

function exampleLabel({ name, summary }: Example, examples: Example[]): string {
  const width = Math.max(...examples.map((one) => one.name.length));
  return `${name.padEnd(width)}  ${summary}`;
}
