import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";

export interface FleetPlan {
  name: string;
  example: string;
}

export interface Example {
  name: string;
  summary: string;
}

export const fleetName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const fleetNameHint = "Use letters, digits, - and _, at most 64 characters.";

/** Undefined when the person backs out. */
export async function askAboutFleet(
  suggested: FleetPlan,
  examples: Example[],
): Promise<FleetPlan | undefined> {
  intro("A new fleet");
  const name = await text({
    message: "What is the fleet called?",
    placeholder: suggested.name,
    defaultValue: suggested.name,
    validate: (typed) => (!typed || fleetName.test(typed) ? undefined : fleetNameHint),
  });
  if (isCancel(name)) return backOut();
  const example = await select({
    message: "What should it begin with?",
    initialValue: suggested.example,
    options: examples.map((one) => ({ value: one.name, label: labelOf(one, examples) })),
  });
  if (isCancel(example)) return backOut();
  outro("Written:");
  return { name, example };
}

function backOut(): undefined {
  cancel("Nothing was written.");
}

function labelOf({ name, summary }: Example, examples: Example[]): string {
  const width = Math.max(...examples.map((one) => one.name.length));
  return `${name.padEnd(width)}  ${summary}`;
}
